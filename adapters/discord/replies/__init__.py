"""Answers and notices on Discord: where they go, how they are rendered, edited and taken back.

Imports `api` and `guild`.
"""
