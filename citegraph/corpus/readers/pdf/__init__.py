"""PDF: text as laid out, tables, forms, hidden text and page pictures."""
