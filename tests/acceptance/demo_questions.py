"""The questions that stories ask about the demo's town, and the texts in which their answers stand.

`town_questions.jsonl` measures and was written before any answerer; `town_tuning.jsonl` is for building one.
`town_unseen.jsonl` was written before the rules that it measures: of u01 to u36 22 were right then, of u37 to u46 5;
of u47 to u86, by which no rule was chosen, 31 of 40 before and after the present rules.
A question without gold has no answer in the town. One with several golds draws on all of them together.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bot.cli.chat import TOWN_DIR

HERE = Path(__file__).parent
SOURCES = HERE.parents[1] / "scripts" / "town_src"


@dataclass(frozen=True, slots=True)
class Gold:
    """A passage that answers: the file's name, and words that stand in it exactly."""

    document: str
    contains: str


@dataclass(frozen=True, slots=True)
class FurtherQuestion:
    """A question with the questions asked `before` it in one conversation; without `words` it has no answer."""

    id: str
    before: tuple[str, ...]
    question: str
    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TownQuestion:
    """A question about the town; `words` are the key words that a good answer shows."""

    id: str
    question: str
    gold: tuple[Gold, ...]
    words: tuple[str, ...]

    @property
    def answerable(self) -> bool:
        return bool(self.gold)


def load_held_out() -> tuple[TownQuestion, ...]:
    """The 25 that measure."""
    return _load("town_questions.jsonl")


def load_tuning() -> tuple[TownQuestion, ...]:
    """Those which may be looked at."""
    return _load("town_tuning.jsonl")


def load_further() -> tuple[FurtherQuestion, ...]:
    """86 of two parts, with other words, pronouns, numbers, people and dates, or about what nobody knows."""
    rows = map(json.loads, (HERE / "town_unseen.jsonl").read_text(encoding="utf-8").splitlines())
    return tuple(FurtherQuestion(row["id"], tuple(row["before"]), row["question"], tuple(row["words"])) for row in rows)


def source_text(document: str) -> str:
    """What was written for a file of the town: its messages' texts, its own text, or what it was typeset from."""
    path = TOWN_DIR / document
    if path.suffix == ".jsonl":
        lines = path.read_text(encoding="utf-8").splitlines()
        return "\n".join(json.loads(line)["text"] for line in lines)
    if path.suffix in {".pdf", ".docx"}:
        path = SOURCES / f"{path.stem}.md"
    return path.read_text(encoding="utf-8")


def _load(name: str) -> tuple[TownQuestion, ...]:
    lines = (HERE / name).read_text(encoding="utf-8").splitlines()
    return tuple(_question(json.loads(line)) for line in lines)


def _question(raw: dict[str, Any]) -> TownQuestion:
    gold = tuple(Gold(each["document"], each["contains"]) for each in raw["gold"])
    return TownQuestion(raw["id"], raw["question"], gold, tuple(raw["words"]))
