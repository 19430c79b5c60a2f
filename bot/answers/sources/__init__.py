"""What an answer rests on: citations as links, which sources were used, evidence behind graph facts.

Pure but for look-ups in the store.
"""
