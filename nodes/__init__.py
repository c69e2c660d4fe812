"""One verb a module: each node with its prompt, its schema and its deterministic twin."""
