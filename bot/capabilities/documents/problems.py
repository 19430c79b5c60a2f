"""Say in one line what was not read of a document, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.text.format import pluralize

if TYPE_CHECKING:
    from engine import IndexProblem

WHAT = {
    "cut_off": "not read to its end",
    "rowless": "the model gave nothing",
    "refused": "the model refused",
    "empty": "the model gave nothing",
}
FORMER_VERSION = (
    "a former version found no fact, and did not record whether the model said so. `threadlore retry` reads them again."
)


def describe_problem(problem: IndexProblem) -> str:
    """What was not read: the document, the number of its chunks, the reason and what to do."""
    count = pluralize(problem.chunks, "chunk")
    if not problem.key:
        return f"{count}: {FORMER_VERSION}"
    what = WHAT.get(problem.outcome, "failed")
    reasons = " ".join(filter(None, (problem.error, problem.hint)))
    return f"{problem.title or problem.key} ({count}, {what}): {reasons}"
