"""Full text of chunks and of entity names: which words to search, and BM25 with the statistics of one scope.

Ranking is the same in every database. Term indexes are not: FTS5 in SQLite (`fts5`, read by `fts5_index`) and
`tsvector` in PostgreSQL (`tsvector`) have no SQL in common, so that there is one module for each, with the functions of
`TermTable`.
"""
