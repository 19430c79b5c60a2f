"""Secrets that others present, or that open other services: installations and access tokens."""
