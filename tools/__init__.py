"""What a model may call: search, metadata and typed queries over the corpus."""
