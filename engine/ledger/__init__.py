"""The ledger: present facts with their provenance, and all text, in SQLite."""
