"""Keep the data directory: forget, retry, verify, reindex, export, back up and restore."""
