"""Who can find something, before it is shared or after.

Imports `access`, `answers`, `documents`, `sources`, `capabilities` and what these import.
"""
