"""One algebra of typed clauses, checked against a schema and compiled to SQL and Qdrant."""
