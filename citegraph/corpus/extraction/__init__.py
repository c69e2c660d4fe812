"""Typed values out of documents, each with its place, method and confidence, as the bucket declares them."""
