"""Parse PDF pages and restore their paragraphs. Imports `office`, `passages` and the base of `parsers`."""
