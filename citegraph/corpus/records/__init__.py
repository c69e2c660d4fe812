"""The SQL side: documents, files, access labels and versions."""
