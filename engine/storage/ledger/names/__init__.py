"""Names and pairs of names: their joins, possible duplicates, corrections, and what their changes make outdated."""
