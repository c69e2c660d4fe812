"""Typed values of documents in one table per bucket, their lists, years and counts."""
