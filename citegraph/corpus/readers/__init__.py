"""Readers: files of any known format into text with pages, boxes, tables and embedded files."""
