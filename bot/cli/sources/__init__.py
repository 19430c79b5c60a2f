"""Commands for sources of documents: source add, list, remove and sync."""
