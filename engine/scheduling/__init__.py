"""Background tasks: priority, batching, and restarts after failures.

Imports only the errors of the engine.
"""
