"""What people can tell the bot to do, by a command or a button.

Imports `answers`, `ingest`, `permissions`, `graph_image` and what these import.
"""
