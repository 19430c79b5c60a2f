"""Watches: the subjects of which a person wants to be told.

Imports `answers`, `capabilities` and what these import.
"""
