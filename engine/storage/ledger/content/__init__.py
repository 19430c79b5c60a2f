"""Documents, their chunks and rooms in the ledger: write, amend, move. Imports the ledger's tables."""
