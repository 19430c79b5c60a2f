"""Background tasks: who goes first, when a batch runs, and what happens to a task that fails.

Imports nothing of the engine but errors.
"""
