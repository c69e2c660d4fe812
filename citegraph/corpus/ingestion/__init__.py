"""Brings files into a bucket: read, annotate, chunk, index; safe to repeat, to kill and to resume."""
