"""Digests without a model: topics, decisions, open questions and new files, each with its source."""

from __future__ import annotations

from engine.llm.offline.highlights import find_highlights, merge_digests
from tests.engine.llm.offline.sources import source

SAID = [
    source(1, "[2026-05-04 09:00] Ada: The tiles of the west roof are red and cost 40 euros each.", "c1"),
    source(2, "[2026-05-04 09:05] Bela: Who will lay the tiles on the west roof?", "c1"),
    source(3, "[2026-05-04 11:00] Ada: Decision: the council agreed to paint the gutter green.", "c2"),
    source(4, "The plan of the west roof. It has two pages.", "f1", title="plan.pdf"),
    source(5, "The second page of the plan.", "f1", title="plan.pdf"),
]


def test_a_digest_has_a_section_for_each_kind_and_names_each_file_once() -> None:
    digest = find_highlights(SAID, "digest")
    sections = {part.splitlines()[0]: part.splitlines()[1:] for part in digest.split("\n\n")}
    assert list(sections) == ["**Topics**", "**Decisions**", "**Open questions**", "**New files**"]
    assert sections["**Decisions**"][0].endswith("paint the gutter green.” [3]")
    assert "Who will lay the tiles" in sections["**Open questions**"][0]
    assert sections["**New files**"] == ["- plan.pdf [4]"]


def test_sections_without_points_are_left_out() -> None:
    assert find_highlights(SAID[3:], "digest") == "**New files**\n- plan.pdf [4]"
    assert not find_highlights([], "digest")


def test_partial_digests_are_merged_by_section() -> None:
    parts = ["**Topics**\n- one [1]\n\n**New files**\n- a.txt [2]", "**Topics**\n- two [3]\n\nSomething else"]
    assert merge_digests(parts) == "**Topics**\n- one [1]\n- two [3]\n\n**New files**\n- a.txt [2]"
    assert not merge_digests([])
