"""Lists, counts and sums over all matching documents, computed by the database."""
