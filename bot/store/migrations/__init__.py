"""Numbered scripts, each leading from the schema before it to its own: 0002.sql and so on, up to schema.sql."""
