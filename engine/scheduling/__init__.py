"""Background tasks: priority, batching, the budget for indexing, back-off and restarts after failures.

Imports only errors, the clock and `usage` of the engine.
"""
