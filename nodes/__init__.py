"""One file a node: the node with its prompt and the schema that parses the reply."""
