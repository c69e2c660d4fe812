"""Claims held against their cited spans, usable without the graph."""
