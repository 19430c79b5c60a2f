"""Ingest of files and folders from the command line, with progress. Imports the engine."""
