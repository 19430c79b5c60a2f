"""The register of decisions and tasks, computed from what the caller can read when they ask.

Imports `capabilities` and the rules of the engine.
"""
