"""A copy of the term indexes in memory: words are ranked within a scope without reading rows of the server."""
