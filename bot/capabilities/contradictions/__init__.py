"""Statements that disagree, computed from what the caller can read when they ask.

Imports `answers`, `capabilities` and what these import.
"""
