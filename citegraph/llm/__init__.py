"""Models at the seam: chat, structured output and embeddings."""
