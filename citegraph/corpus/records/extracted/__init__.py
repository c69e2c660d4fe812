"""Values found in documents with place, method and confidence; corrections and review."""
