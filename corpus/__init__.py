"""What is searched: buckets, filters, annotations, the index, reading and ingestion."""
