"""Replies of models, parsed tolerantly: tuples, JSON, shared calls, thoughts. Pure."""
