"""Measurements: each module prints a table; none decides whether the suite passes."""
