"""PDF pages and the re-flow of their lines. Imports the passages of `parsers`."""
