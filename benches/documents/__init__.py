"""Benches of reading, extraction and ingest."""
