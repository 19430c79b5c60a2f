"""Answers that were given outside of the chat and are kept: judge them, and have them judged by others."""
