from __future__ import annotations

from rich.console import Console

from bot.capabilities.results import DuplicatesResult
from bot.cli.render.duplicates import render_duplicates
from engine import DuplicateReport
from engine.knowledge.duplicates.report import Duplicate, Homonym, HomonymSense

SUGGESTED = Duplicate(
    "s", "Mina", "Minna\x1b[31m", is_joined=False, score=0.6, spelling=88.9, similarity=0.71, shared=("Otto",),
    shared_count=1, excerpts=("Mina met Otto.",),
)  # fmt: skip
JOINED = Duplicate("s", "HTF", "Harbor Trust Fund", is_joined=True, score=1.0, spelling=20.0, reason="abbreviation")


def render(*suggested: Duplicate, joined: tuple[Duplicate, ...] = (), uncompared: int = 0) -> list[str]:
    console = Console(width=200, record=True, file=None, force_terminal=False, quiet=False)
    with console.capture() as shown:
        console.print(render_duplicates(DuplicatesResult(DuplicateReport(suggested, joined, uncompared))))
    return [line.strip() for line in shown.get().splitlines()]


def test_pairs_are_shown_with_their_evidence_and_without_control_characters() -> None:
    assert render(SUGGESTED, joined=(JOINED,), uncompared=2) == [
        "These names may mean the same:",
        "Mina ~ Minna[31m  spelling 89%; similar meaning 71%; 1 common neighbor: Otto",
        "“Mina met Otto.”",
        "Joined automatically:",
        "HTF → Harbor Trust Fund  a text gives the abbreviation with its long form",
        "2 names not compared yet.",
    ]


def test_names_that_may_mean_two_things_are_shown_with_their_senses() -> None:
    senses = (HomonymSense("person", 3, "Avon sings."), HomonymSense("location", 2))
    console = Console(width=200, record=True, file=None, force_terminal=False, quiet=False)
    with console.capture() as shown:
        console.print(
            render_duplicates(DuplicatesResult(DuplicateReport((), (), homonyms=(Homonym("s", "Avon", senses),))))
        )
    assert [line.strip() for line in shown.get().splitlines()] == [
        "These names may mean two things:",
        "Avon  person (3 sources); location (2 sources)",
        "“Avon sings.”",
    ]


def test_nothing_found_is_said() -> None:
    assert render() == ["No duplicate names were found."]
