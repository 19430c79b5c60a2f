"""Every error has a sentence, and what others wrote is harmless in it."""

from __future__ import annotations

import pytest

from bot import errors as bot_errors
from bot import texts
from bot.errors import NotAllowed, PermissionDenied, PlatformError
from bot.platform.traits import PlatformTraits
from bot.text.markdown import sanitize_inline
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


@pytest.mark.parametrize("kind", [*KINDS, ZeroDivisionError])
def test_every_error_has_a_sentence_with_a_reference(kind: type[Exception]) -> None:
    sentence = texts.describe_error(kind("Some thing."), "abc123")
    assert sentence.endswith("(reference `abc123`)")
    assert len(sentence) > 30
    assert issubclass(kind, EngineError) or sentence.startswith("Something went wrong on my side.")
    assert issubclass(kind, EngineError) or "Some thing" not in sentence


@pytest.mark.parametrize(
    ("error", "repeated"),
    [
        (InvalidApiKey("sk-1 of https://api.example"), False),
        (RateLimited("org-7"), False),
        (ModelUnavailable("10.0.0.1"), False),
        (EncryptedFile("A password is needed."), True),
        (NotFound("No “Roof”."), True),
        (NotAllowed("Not yours."), True),
    ],
)
def test_only_what_is_meant_for_the_asker_is_repeated(error: EngineError, *, repeated: bool) -> None:
    sentence = texts.describe_error(error)
    assert sentence == f"{error} {error.hint}".strip() if repeated else str(error) not in sentence


def test_a_denied_permission_is_told_from_a_failure() -> None:
    assert texts.describe_error(PermissionDenied("x")) != texts.describe_error(PlatformError("x"))


@pytest.mark.parametrize(
    "text",
    [
        texts.describe_error(InvalidDocument("@everyone <!channel> https://evil.example/x is broken.")),
        texts.file_refused("@everyone.txt", "it is empty."),
        texts.describe_sources("@everyone"),
    ],
    ids=["error", "file", "channel"],
)
def test_names_mention_nobody_and_are_no_links(text: str) -> None:
    assert not any(bad in text for bad in ("@everyone", "<!channel>", "https://"))


def test_sanitized_text_is_one_line() -> None:
    assert sanitize_inline("one\n\n  two ") == "one two"


def test_what_the_offline_model_says_of_nothing_is_known_as_such() -> None:
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


@pytest.mark.parametrize(
    ("platform", "command", "hint"),
    [
        ("slack", "`/threadlore settings ingest off`", "with /threadlore ask:"),
        ("discord", "`/settings setting:ingest value:off`", "with /ask and"),
    ],
)
def test_so_they_are_in_texts_of_the_bot(platform: str, command: str, hint: str) -> None:
    assert command in texts.channel_welcome(TRAITS[platform], 90)
    assert hint in texts.ask_privately_hint(TRAITS[platform])
