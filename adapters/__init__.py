"""Adapters: each translates one platform, and decides nothing."""
