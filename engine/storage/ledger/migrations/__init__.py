"""Numbered scripts, each leading from one schema to the next: 0002_….sql and so on; schema.sql is the first."""
