"""Commands and buttons that people use in the chat.

Imports `answers`, `ingest`, `permissions`, `graph_image` and what these import.
"""
