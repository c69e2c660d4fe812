"""How every answer of the server goes out: ids, caches, compression, other sites, and the description of the API."""
