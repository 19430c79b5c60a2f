"""Automatic joins of names: aliases that follow from the present names, kept up to date in each transaction."""
