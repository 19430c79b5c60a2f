"""Verified answers: which question they answer, who may verify, and how they are shown; and experts to ask.

Imports what `bot/answers` imports.
"""
