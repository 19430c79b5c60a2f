"""Watches: find the messages that people wait for, and tell them privately, as `unasked` posts what nobody asked for.

Imports `permissions`, `store`, `text`, `texts`, `answers/review` and the rules of the engine.
"""
