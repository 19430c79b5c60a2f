"""Calls of providers: limits, retries, error mapping, and the process that holds LiteLLM.

Imports `engine.errors` and `engine.models`.
"""
