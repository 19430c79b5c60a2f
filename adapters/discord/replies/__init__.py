"""Answers and notices on Discord: where they are posted, how they are rendered, edited and deleted; their buttons.

Imports `guild`, and the adapter's `calls`.
"""
