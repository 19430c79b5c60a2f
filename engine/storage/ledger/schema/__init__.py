"""The tables of the ledger, and the scripts that made those of each version."""
