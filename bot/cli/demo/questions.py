"""The four questions of the demo, in order."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """A question and what it demonstrates."""

    text: str
    explanation: str


QUESTIONS = (
    DemoQuestion(
        "How much is a return ticket on the ferry?",
        "One fact from one document: [1] links to the passage.",
    ),
    DemoQuestion(
        "Who holds permit 17-B, and what did the holder of permit 17-B promise to do before the Mending?",
        "Two sources: the permit register names the holder, a message in the harbour channel states the promise.",
    ),
    DemoQuestion(
        "Where can I find her on a Saturday?",
        "A follow-up: “her” refers to a person from the conversation.",
    ),
    DemoQuestion(
        "Which dentist do people in Ploverness go to?",
        "No document mentions one, so the correct answer is that nothing was found.",
    ),
)
