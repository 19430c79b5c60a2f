"""Questions that the bot asks the engine for somebody who wants a summary."""

from __future__ import annotations

SUMMARY_QUESTION = "Summarize this thread."  # the engine recognizes it
CATCH_UP_QUESTION = (
    "What happened here since {time}? Summarize it by topic, the most important first: "
    "what was decided, which questions are open, and who is waiting for whom."
)
