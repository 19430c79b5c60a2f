"""Shared by child processes: frames on their pipes and the module path. Imports nothing of the engine."""
