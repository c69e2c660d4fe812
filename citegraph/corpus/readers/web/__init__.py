"""HTML pages and electronic books."""
