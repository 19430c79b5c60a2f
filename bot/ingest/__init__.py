"""Chat events and shared files as documents of the engine.

Imports `permissions`, `platform`, `store` and the engine.
"""
