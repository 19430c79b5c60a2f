"""Statements that disagree: find them, tell who may read both, and settle them by a verified answer.

Imports `permissions`, `store`, `text`, `texts`, `answers/review`, `answers/watches` and the rules of the engine.
"""
