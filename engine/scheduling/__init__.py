"""Background tasks: priority, batching, back-off and restarts after failures.

Imports only the errors of the engine.
"""
