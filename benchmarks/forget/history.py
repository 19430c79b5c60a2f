"""Random histories of documents: shared facts, edits and deletions in two spaces; needs nothing but Python."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

SPACES = ("harbor", "quarry")
HUB = "Lantern Council"  # in every document, so that its descriptions are summarized
FIRST = ("Mira", "Otto", "Selma", "Jonas", "Petra", "Ruben", "Wanda", "Felix", "Greta", "Anton")
LAST = ("Brandt", "Keller", "Vogel", "Winter", "Lange", "Busch", "Ahrens", "Krause", "Sommer", "Peters")
THINGS = ("ferry", "ledger", "lamp", "bell", "anchor", "kiln", "orchard", "bridge", "granary", "mill")
SYLLABLES = ("ba", "ke", "lo", "mu", "ni", "ra", "so", "tu", "ve", "zi")


@dataclass(frozen=True, slots=True)
class Fact:
    """Somebody keeps a thing under a word that occurs in no other fact."""

    person: str
    thing: str
    word: str

    @property
    def sentence(self) -> str:
        """The sentence that states it."""
        return f"{self.person} keeps the {self.thing} of {HUB} under the word {self.word}."

    @property
    def question(self) -> str:
        """The question that it answers."""
        return f"Under which word does {self.person} keep the {self.thing} of {HUB}?"


@dataclass(frozen=True, slots=True)
class Step:
    """What happens to a document. `action`: add, edit (all its facts are replaced) or delete."""

    action: str
    space: str
    document: str
    facts: tuple[Fact, ...] = ()

    @property
    def text(self) -> str:
        """The text of the document."""
        return "\n".join(fact.sentence for fact in self.facts)


@dataclass(frozen=True, slots=True)
class History:
    """Documents that are added, then `changes`. All questions are asked in between, and again at the end."""

    seed: int
    added: tuple[Step, ...]
    changes: tuple[Step, ...]

    def list_facts(self, space: str) -> list[Fact]:
        """All facts that were ever stated in a space."""
        steps = (step for step in (*self.added, *self.changes) if step.space == space)
        return list(dict.fromkeys(fact for step in steps for fact in step.facts))

    def list_present(self, space: str) -> list[Fact]:
        """The facts that a document of a space states at the end."""
        present: dict[str, tuple[Fact, ...]] = {}
        for step in (*self.added, *self.changes):
            if step.space == space:
                present[step.document] = step.facts if step.action != "delete" else ()
        return list(dict.fromkeys(fact for facts in present.values() for fact in facts))

    def list_erased(self, space: str) -> list[Fact]:
        """The facts of a space that no document states any more."""
        present = self.list_present(space)
        return [fact for fact in self.list_facts(space) if fact not in present]


def make_history(seed: int, documents: int = 6) -> History:
    """A history in two spaces: every second document is edited or deleted; of a shared fact, one of its two places."""
    chance = random.Random(seed)
    added, changes = list[Step](), list[Step]()
    for space in SPACES:
        shared = [_make_fact(chance) for _ in range(documents // 2)]
        for number in range(documents):
            key = f"{space}-{number}"
            facts = (shared[number // 2], *(_make_fact(chance) for _ in range(2)))
            added.append(Step("add", space, key, facts))
            if number % 4 == 1:
                changes.append(Step("delete", space, key))
            elif number % 4 == 2:
                changes.append(Step("edit", space, key, (_make_fact(chance), facts[1])))
    changes.append(Step("delete", SPACES[0], f"{SPACES[0]}-3"))  # with the edit of 2: nobody states their fact any more
    return History(seed, tuple(added), tuple(changes))


def _make_fact(chance: random.Random) -> Fact:
    word = "".join(chance.choice(SYLLABLES) for _ in range(5)) + str(chance.randrange(100, 1000))
    return Fact(f"{chance.choice(FIRST)} {chance.choice(LAST)}", chance.choice(THINGS), word)


def save_history(history: History, file: Path) -> None:
    """Write a history as JSON, for a process of another environment."""
    file.write_text(json.dumps(asdict(history)), encoding="utf-8")


def load_history(file: Path) -> History:
    """Read a history."""
    read = json.loads(file.read_text(encoding="utf-8"))
    return History(read["seed"], _load_steps(read["added"]), _load_steps(read["changes"]))


def _load_steps(rows: Sequence[dict[str, Any]]) -> tuple[Step, ...]:
    return tuple(
        Step(row["action"], row["space"], row["document"], tuple(Fact(**fact) for fact in row["facts"])) for row in rows
    )
