"""Confirmations of manual corrections, for the chat and the command line."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable


def format_merge(name: str, into: str, unknown: Iterable[str]) -> str:
    """The confirmation of a merge, with a warning for each name that does not occur yet."""
    doubts = (f" “{each}” does not occur yet. Check its spelling." for each in unknown)
    return f"“{name}” is now merged into “{into}”.{''.join(doubts)}"


def format_unmerge(name: str) -> str:
    """The confirmation that a merge was undone."""
    return f"“{name}” is a separate name again."


def format_subject(name: str, other: str) -> str:
    """An entity, or with `other` its relation to it."""
    return f"“{name}” – “{other}”" if other else f"“{name}”"


def format_description(subject: str, description: str) -> str:
    """The confirmation of a new description; an empty one was restored from the sources."""
    return f"{subject} is now described {'with your words' if description else 'from its sources'}."


def format_visibility(subject: str, *, hidden: bool) -> str:
    """The confirmation that something was hidden or is visible again."""
    return f"{subject} is {'hidden' if hidden else 'visible again'}."
