"""The lines above quotations, in the language of their readers."""

from __future__ import annotations

import pytest

from bot.i18n import LANGUAGES, use_language
from bot.texts import search_notices
from engine.llm.offline.quoting import notices
from engine.llm.offline.quoting.notices import render_closest, render_corrections


def test_the_sentences_are_those_of_the_engine() -> None:
    ours = (search_notices.CLOSEST, search_notices.CLOSEST_WITHOUT, search_notices.SEARCHED_INSTEAD)
    assert ours == (notices.CLOSEST, notices.CLOSEST_WITHOUT, notices.SEARCHED_INSTEAD)


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("gaps", [(), ("Oslo", "B-7")])
def test_they_are_translated_and_recognized_in_each_language(language: str, gaps: tuple[str, ...]) -> None:
    lines = (render_corrections([("hreon", "heron")]), render_closest(gaps), "“Ada rows.” [1]")
    with use_language(language):
        shown = search_notices.translate_lead("\n".join(lines)).split("\n")
    assert (shown[:2] == list(lines[:2])) == (language == "en")
    assert shown[2] == lines[2]
    assert "“heron”" in shown[0]
    assert all(f"“{gap}”" in shown[1] for gap in gaps)
    assert search_notices.is_closest("\n".join(shown))
    assert search_notices.is_closest("\n".join(shown[1:]))
    assert not search_notices.is_closest(shown[0])


@pytest.mark.parametrize("text", ["", "“Ada rows.” [1]", "I found nothing about it.\nThe closest I found:", "a\nb\nc"])
def test_another_text_stays_as_it_is(text: str) -> None:
    with use_language("de"):
        assert search_notices.translate_lead(text) == text
    assert not search_notices.is_closest(text)
