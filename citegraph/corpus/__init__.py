"""What is searched: schema, filters, records, linking, index, reading, extraction and ingestion."""
