"""Prompts that a person chooses in an editor."""

from __future__ import annotations


def decisions(topic: str) -> str:
    """Find what the team decided about a topic."""
    return (
        f"What did we decide about {topic}? Use the tool ask of threadlore, and name the sources with their links. "
        "If a later message changes a decision, say so."
    )


def catch_up(since: str = "1 day") -> str:
    """Sum up what happened since a time."""
    return f"Use the tool summary of threadlore for the time since {since}, and name the sources with their links."


PROMPTS = (decisions, catch_up)
