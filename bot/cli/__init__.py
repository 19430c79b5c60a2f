"""Command line: each command builds a request and shows its results.

Imports `admin`, `server` and what these import.
"""
