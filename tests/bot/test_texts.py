"""Whatever goes wrong has a sentence; whatever others wrote is harmless in it."""

from __future__ import annotations

import pytest

from bot import errors as bot_errors
from bot import texts
from bot.errors import NotAllowed, PermissionDenied, PlatformError
from bot.platform.traits import PlatformTraits
from bot.text.sanitize import sanitize_inline
from engine import errors
from engine.errors import (
    EncryptedFile,
    EngineError,
    InvalidApiKey,
    InvalidDocument,
    ModelUnavailable,
    NotFound,
    RateLimited,
)
from engine.llm.offline.model import NO_HIGHLIGHTS
from tests.support.fake_platform import TRAITS

KINDS = [
    kind
    for module in (errors, bot_errors)
    for kind in vars(module).values()
    if isinstance(kind, type) and issubclass(kind, EngineError)
]


@pytest.mark.parametrize("kind", KINDS)
def test_every_error_has_a_sentence_that_can_be_found_in_the_log(kind: type[EngineError]) -> None:
    said = texts.describe_error(kind("Something."), "abc123")
    assert said.endswith("(reference `abc123`)")
    assert len(said) > 30


def test_so_has_a_bug() -> None:
    said = texts.describe_error(ZeroDivisionError("division by zero"), "abc123")
    assert said.startswith("Something went wrong on my side.")
    assert "division" not in said


@pytest.mark.parametrize(
    "error", [InvalidApiKey("sk-1 of https://api.example"), RateLimited("org-7"), ModelUnavailable("10.0.0.1")]
)
def test_what_a_provider_says_is_not_repeated(error: EngineError) -> None:
    assert str(error) not in texts.describe_error(error)


@pytest.mark.parametrize(
    "error", [EncryptedFile("A password is needed."), NotFound("No “Roof”."), NotAllowed("Not yours.")]
)
def test_what_is_meant_for_the_asker_is(error: EngineError) -> None:
    assert texts.describe_error(error) == f"{error} {error.hint}".strip()


def test_being_kept_out_is_told_apart_from_being_cut_off() -> None:
    assert texts.describe_error(PermissionDenied("x")) != texts.describe_error(PlatformError("x"))


def test_names_of_files_call_nobody() -> None:
    said = texts.describe_error(InvalidDocument("@everyone <!channel> https://evil.example/x is broken."))
    assert not any(bad in said for bad in ("@everyone", "<!channel>", "https://"))
    assert "@everyone" not in texts.file_refused("@everyone.txt", "it is empty.")


def test_nor_do_names_of_channels() -> None:
    assert texts.describe_sources(texts.channel_content("#roof")) == "Answered from what everyone in #roof can see."
    assert "@here" not in texts.channel_content("@here")


def test_harmless_is_one_line() -> None:
    assert sanitize_inline("one\n\n  two ") == "one two"


def test_nothing_found_offers_privacy_only_where_others_read() -> None:
    assert "with /threadlore ask:" in texts.ask_privately_hint(TRAITS["slack"])
    assert "with /ask and" in texts.ask_privately_hint(TRAITS["discord"])


def test_what_the_rules_say_of_nothing_is_known_as_such() -> None:
    assert all(texts.is_nothing_found(text) for text in NO_HIGHLIGHTS.values())


@pytest.mark.parametrize(
    ("platform", "words", "shown"),
    [
        ("slack", "settings ingest on", "/threadlore settings ingest on"),
        ("console", "settings ingest on", "/settings ingest on"),
        ("discord", "settings ingest on", "/settings setting:ingest value:on"),
        ("discord", "graph Ada Lovelace", "/graph name:Ada Lovelace"),
        ("discord", 'correct hide "Ada L."', '/correct correction:hide words:"Ada L."'),
        ("discord", "correct unhide", "/correct correction:unhide"),
        ("discord", "forget-me", "/forget-me"),
        ("discord", "backfill", "/backfill"),
    ],
)
def test_commands_are_shown_as_the_platform_types_them(platform: str, words: str, shown: str) -> None:
    assert TRAITS.get(platform, PlatformTraits()).format_command(words) == shown


def test_so_they_are_in_what_a_channel_is_told() -> None:
    assert "`/settings setting:ingest value:off`" in texts.channel_welcome(TRAITS["discord"], 90)
    assert "`/threadlore settings ingest off`" in texts.channel_welcome(TRAITS["slack"], 90)
