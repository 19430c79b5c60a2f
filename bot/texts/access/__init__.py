"""Sentences about who can find what."""
