"""Shards: shared out over processes, begun one after another, and routed to."""
