"""Offline quality and speed; never imported at run time."""
