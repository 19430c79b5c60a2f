"""The sources of an answer: citation links, used sources, and evidence behind graph facts.

Pure except for lookups in the store.
"""
