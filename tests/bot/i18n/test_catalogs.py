"""Sentences in the language that is active, and English where there is no translation."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime

import pytest

from bot import texts
from bot.i18n import LANGUAGES, get_language, gettext, list_translations, use_language
from bot.text.format import format_day, format_number


def test_a_sentence_is_in_the_language_that_is_active() -> None:
    with use_language("de"):
        german = gettext(texts.ANSWER_SHARED)
        with use_language("fr"):
            assert gettext(texts.ANSWER_SHARED) not in {german, texts.ANSWER_SHARED}
        assert gettext(texts.ANSWER_SHARED) == german != texts.ANSWER_SHARED
    assert gettext(texts.ANSWER_SHARED) == texts.ANSWER_SHARED


@pytest.mark.parametrize("language", ["nl", "", "../../de", "de/../de", "d" * 5000, "\0"])
def test_a_language_without_a_catalog_is_english(language: str) -> None:
    with use_language(language):
        assert get_language() == "en"
        assert gettext(texts.ANSWER_SHARED) == texts.ANSWER_SHARED


@pytest.mark.parametrize("language", LANGUAGES)
def test_what_was_translated_already_and_what_is_unknown_stays_as_it_is(language: str) -> None:
    with use_language(language):
        sentence = gettext(texts.ANSWER_SHARED)
        assert gettext(sentence) == sentence
        assert gettext("") == ""
        assert gettext("No sentence of mine.") == "No sentence of mine."


@pytest.mark.parametrize("language", LANGUAGES)
def test_an_answer_that_nothing_was_found_is_recognized_in_each_language(language: str) -> None:
    with use_language(language):
        shown = [texts.nothing_found(gap) for gap in ("", *texts.GAP_NOTICES)]
        shown.append(texts.translate_nothing_found(texts.NO_DECISION))
    assert all(map(texts.is_nothing_found, shown))
    assert not texts.is_nothing_found("The tiles come on Friday.")
    assert shown[0] in list_translations(texts.NOTHING_FOUND)


async def test_tasks_of_two_readers_do_not_mix() -> None:
    async def read(language: str, turn: asyncio.Event, following: asyncio.Event) -> str:
        with use_language(language):
            await turn.wait()
            sentence = gettext(texts.ANSWER_SHARED)
            following.set()
            return sentence

    first, second, end = asyncio.Event(), asyncio.Event(), asyncio.Event()
    first.set()
    french, german = await asyncio.gather(read("fr", second, end), read("de", first, second))
    assert german in list_translations(texts.ANSWER_SHARED)
    assert german != french
    assert get_language() == "en"


def test_numbers_and_days_are_written_as_the_language_does() -> None:
    day = datetime(2026, 5, 3, 23, 0, tzinfo=UTC)
    shown = {}
    for language in LANGUAGES:
        with use_language(language):
            shown[language] = format_number(12345), format_day(day)
    assert shown["en"] == ("12,345", "May 3, 2026")
    assert shown["de"] == ("12.345", "3. Mai 2026")
    assert shown["ja"] == ("12,345", "2026年5月3日")
