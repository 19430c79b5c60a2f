"""DOCX and the other office formats. Imports the passages of `parsers`."""
