"""DOCX and the other office formats, through kreuzberg. Imports `passages`, `dates` and the base of `parsers`."""
