"""The durable queue of events, and what is done with each: ingest it, answer it, or run a command.

Imports `commands`, `answers`, `ingest` and what these import.
"""
