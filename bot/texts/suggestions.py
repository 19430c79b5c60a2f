"""The words of follow-up questions and of questions about a place, and what a press of their buttons says. Pure."""

from __future__ import annotations

from bot.i18n import N_, gettext

ALREADY_ASKED = N_("You asked that already.")
SUMMARY_QUESTION = "Summarize this thread."  # the engine recognizes it
CATCH_UP_QUESTION = (
    "What happened here since {time}? Summarize it by topic, the most important first: "
    "what was decided, which questions are open, and who is waiting for whom."
)


def format_decided(name: str) -> str:
    """The question for a decision about something."""
    return gettext("What was decided about {name}?").format(name=name)


def format_connected(name: str, other: str) -> str:
    """The question for what connects a person and a thing."""
    return gettext("What does {name} have to do with {other}?").format(name=name, other=other)


def format_said(name: str, topic: str) -> str:
    """The question for what a person wrote about something."""
    return gettext("What did {name} say about {topic}?").format(name=name, topic=topic)


def format_section(heading: str, title: str) -> str:
    """The question for a section of a document."""
    return gettext("What about “{heading}” in “{title}”?").format(heading=heading, title=title)
