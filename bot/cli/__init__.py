"""Command line: each command builds a request and shows its results.

Imports `capabilities`, `rpc`, `server` and what these import.
"""
