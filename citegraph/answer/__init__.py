"""Sentences, lists, numbers and conflicts of an answer, written by code; what happens after the check."""
