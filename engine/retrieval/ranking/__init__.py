"""Ranking: every decision about the order of search results, and nothing else; the numbers are `RankingOptions`.

In the order of use: hits of one search and several rankings fused (`fusion`), chunks of the graph (`graph_chunks`, or
`chunk_selection` as LightRAG ranks them), chunks by a walk (`pagerank`) from the names of a question (`walk_seeds`),
passages of conversations and the sources that fit into a prompt (`passages`), relations and the rows of the graph
beside the sources (`row_choice`). It may import records and text functions only.
"""
