"""The embedded engine behind the index protocol."""
