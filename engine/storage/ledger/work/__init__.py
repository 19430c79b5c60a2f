"""What is still to be done: chunks to embed or read, stale keys, failures. Imports the ledger's tables."""
