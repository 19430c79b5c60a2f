"""Redaction of stored answers, and correction of posted ones. Imports the tables of `store`."""
