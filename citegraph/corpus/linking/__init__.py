"""Names in a text linked to the values that documents have."""
