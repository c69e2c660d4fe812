"""Passages as vectors and terms: one protocol, its engines, views, search and reranking."""
