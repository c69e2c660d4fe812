"""Measurements that no user runs; not in the wheel."""
