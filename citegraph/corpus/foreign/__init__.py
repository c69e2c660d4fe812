"""Collections that someone else wrote."""
