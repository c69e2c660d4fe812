"""Bucket declarations, their fields and typed values: everything about a bucket comes from here."""
