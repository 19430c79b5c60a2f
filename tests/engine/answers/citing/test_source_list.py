"""A list of sources that a model adds is dropped; everything that it states stays."""

from __future__ import annotations

import pytest

from engine.answers.citing.source_list import SourceListFilter

TITLES = ("Kiln diary", "minutes-2024.pdf\npage 3")
ANSWER = "The kiln was lit at nine [1].\n"


def drop(text: str, titles: tuple[str, ...] = TITLES, step: int = 1000) -> str:
    filter_ = SourceListFilter(frozenset((1, 2, 3)), titles)
    return "".join(filter_.feed(text[at : at + step]) for at in range(0, len(text), step)) + filter_.close()


LISTS = [
    "\nSources:\n[1] Kiln diary\n[2] minutes",
    "\n### References\n\n- [1] Kiln diary, Ada, 2026\n- [2] minutes\n",
    "\n**References**\n1. Kiln diary\n",
    "\n**References**\n1. https://kiln.example/diary\n2. fen.docx\n",
    "\n**Quellen:**\n\n* [1] kiln.md\n",
    "\nFuentes:\n(1) Kiln diary\n",
    "\nSources :\n[1] – Kiln diary\n",
    "\n出典：\n[1] 窯の日記\n",
    "\n## Sources\nSource 1: Kiln diary\nSource 2: minutes\n",
    "\nReferences\n- Kiln diary [1]\n- minutes-2024.pdf, page 3\n",
    "\n[1] Kiln diary\n[2] minutes-2024.pdf\n",
    "\n[^1]: Kiln diary\n",
    "\n[^1]: see source 1\n",
    "\n[1]: https://kiln.example/diary\n",
    "\nSources: [1] Kiln diary, [2] minutes\n",
    "\nSources consulted:\n- [1] fen\n",
    "\n**Source(s):**\n- [1] fen\n",
    "\nQuellen und Belege:\n- [1] Moor\n",
    "\nSources utilisées :\n- [1] étang\n",
    "\nSources:\n<ol><li>Kiln diary [1]</li><li>minutes [3]</li></ol>\n",
    "\nSources:\n<ul>\n<li>Kiln diary [1]</li>\n</ul>\n",
    "\n## Sources\n",
]


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize("added", LISTS)
def test_a_list_after_an_answer_is_dropped(added: str, step: int) -> None:
    assert drop(ANSWER + added, step=step).strip() == ANSWER.strip()


@pytest.mark.parametrize("step", [1, 7, 1000])
@pytest.mark.parametrize(
    "text",
    [
        f"{ANSWER}\nSources:\n- The clay comes from the hill [2]\n- The wood from the fen [3]\n",
        f"{ANSWER}\n## Sources\nThe clay comes from the hill [2].",
        f"{ANSWER}\n## References\n1. Clay is old [2]\n",
        f"{ANSWER}\nSources: [1], [2]\n",
        f"{ANSWER}\nSource: [1]",
        f"{ANSWER}\nSources:\n\nNone was found.",
        f"{ANSWER}\n[2] It cooled at noon.\n",
        f"{ANSWER}\n```\nSources:\n[1] x\n```\n",
        f"{ANSWER}\nNotes\n\nThe kiln is old.\n",
        f"{ANSWER}\n**Documents:**\n1. A photo of the clay\n2. A form of the guild\n",
        f"{ANSWER}\nNotes:\n1) Bring gloves\n2) Wear boots\n",
        f"{ANSWER}\n### Dokumente\n(1) Reisepass\n(2) Urkunde\n",
        f"{ANSWER}\n## References\n1. Ada Ash, phone 555\n2. Bo Elm, phone 556\n",
        f"{ANSWER}\n## Context\nDay 1: light it.\nDay 2: wait.\n",
        f"{ANSWER}\n[^1]: It was raining on that day.\n",
        "Sources:\n[1] Kiln diary\n[2] minutes\n",
        "[1] The kiln was lit.\n[2] It cooled.\n",
        "\n\n  Sources of clay\n\n1. The hill [2].\n",
        "",
    ],
)
def test_what_states_something_stays(text: str, step: int) -> None:
    assert drop(text, step=step) == text


def test_text_after_a_list_is_shown() -> None:
    assert drop(f"{ANSWER}\nSources:\n[1] Kiln diary\n\nAsk Ada.\n") == f"{ANSWER}\n\nAsk Ada.\n".replace(
        "\n\n\n", "\n\n"
    )


def test_an_ordinary_line_is_passed_on_at_once() -> None:
    filter_ = SourceListFilter(frozenset((1,)))
    assert [filter_.feed(piece) for piece in ("The ", "kiln", " sou", "rces:\n")] == ["The ", "kiln", " sou", "rces:\n"]
