"""Ranking: every decision about the order of search results, and nothing else; the numbers are `RankingOptions`.

In the order of use: hits of one search and several rankings fused (`fusion`), relations around entities (`relations`),
chunks of the graph (`graph_chunks`, or `chunk_selection` as LightRAG ranks them), chunks by a walk from the names of a
question (`walk_seeds`), and passages of conversations (`passages`). It may import records and text functions only.
"""
