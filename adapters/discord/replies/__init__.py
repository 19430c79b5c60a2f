"""Answers and notices on Discord: where they are posted, how they are rendered, edited and deleted; their buttons.

Imports `api` and `guild`.
"""
