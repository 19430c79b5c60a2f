"""File formats: bytes and a name become passages with locators, parsed in a sandbox; chat exports become conversations.

Imports `text`, `process`, models and errors.
"""
