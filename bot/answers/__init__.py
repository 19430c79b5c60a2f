"""One question, one reply: from a message or command to a streamed, cited, corrected answer.

Imports `permissions`, `platform`, `store`, `text` and the engine.
"""
