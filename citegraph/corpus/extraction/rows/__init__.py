"""The rows of tables inside a document: the lines of an invoice, the ratings of a part."""
