"""Statements that disagree though neither replaces the other.

`assertions` reads what a statement says of its subject, `values` decides which values exclude each other, `finding`
pairs statements, and leaves out what the rules of `supersession` take as replaced. Precision matters more than recall.
"""
