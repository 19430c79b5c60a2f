"""The four questions of the demo, in the order in which they are asked."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class DemoQuestion:
    """One question, and the `note` that tells the newcomer what to look for in its answer."""

    text: str
    explanation: str


QUESTIONS = (
    DemoQuestion(
        "How much is a return ticket on the ferry?",
        "One fact from one document: [1] leads to the place where it stands.",
    ),
    DemoQuestion(
        "Who holds permit 17-B, and what did the holder of permit 17-B promise to do before the Mending?",
        "Two sources: the register of permits knows who, a message in the harbour channel knows what.",
    ),
    DemoQuestion(
        "Where can I find her on a Saturday?",
        "A follow-up: only the conversation so far tells who “her” is.",
    ),
    DemoQuestion(
        "Which dentist do people in Ploverness go to?",
        "Nobody in town ever mentioned one, so the honest answer is that nothing was found.",
    ),
)
