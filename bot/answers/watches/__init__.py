"""Watches: find the messages that people wait for, and tell them privately.

Imports `permissions`, `store`, `text`, `texts` and the rules of the engine.
"""
