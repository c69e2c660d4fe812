"""Reproduces the weights of the local encoder; not part of the wheel."""
