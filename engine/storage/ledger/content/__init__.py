"""Documents, chunks and rooms in the ledger: write, amend, move. Imports the tables of facts and work."""
