"""Standing requests: what somebody wants to be told of.

Imports `answers`, `capabilities` and what these import.
"""
