"""Conversations that run at once in a channel: which message answers which, and windows of limited length."""
