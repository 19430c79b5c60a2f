"""The page of frequent questions, written from what the caller can read when they ask.

Imports `capabilities` and what these import.
"""
