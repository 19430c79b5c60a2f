from __future__ import annotations

import pytest

from bot.capabilities.access.tokens import (
    find_token_id,
    generate_token,
    hash_secret,
    matches,
    parse_permissions,
    parse_subject,
    parse_token,
)
from bot.errors import BadSetting, InvalidToken
from bot.store import Subject


def test_a_token_is_read_back_and_only_its_own_secret_matches() -> None:
    id_, text, digest = generate_token()
    found, secret = parse_token(text)
    assert (found, hash_secret(secret)) == (id_, digest)
    assert matches(secret, digest)
    assert not matches(secret[:-1], digest)
    assert secret not in digest
    assert generate_token()[1] != text


@pytest.mark.parametrize("text", ["", "tl", "tl_", "tl_12_x", "tl_0123456789_", "xx_0123456789_s", "tl_0123456789_é"])
def test_other_text_is_no_token(text: str) -> None:
    with pytest.raises(InvalidToken):
        parse_token(text)


def test_a_token_is_named_by_its_id_or_its_text_and_by_nothing_else() -> None:
    id_, text, _ = generate_token()
    assert [find_token_id(each) for each in (id_, f" {id_}\n", text, f"{text} ")] == [id_] * 4
    others = ("", "tl", id_[1:], f"{id_}0", id_.replace(id_[0], "x"), text.removeprefix("tl_"), text.split("_", 2)[2])
    assert [find_token_id(other) for other in others] == [""] * 7


@pytest.mark.parametrize(
    ("text", "subject"),
    [
        ("space:console:local", Subject(space="console:local")),
        ("slack:T1:U1", Subject("slack", "T1", "U1")),
        ("discord:10:77", Subject("discord", "10", "77")),
    ],
)
def test_a_subject_is_a_space_or_a_person(text: str, subject: Subject) -> None:
    assert parse_subject(text) == subject
    assert str(subject) == text


@pytest.mark.parametrize(
    "text", ["", "space:", "slack", "slack:T1", "slack:T1:", ":T1:U1", "slack::U1", "slack:T1:U1:x"]
)
def test_an_incomplete_subject_is_refused(text: str) -> None:
    with pytest.raises(BadSetting):
        parse_subject(text)


def test_permissions_have_one_order_and_known_names() -> None:
    assert parse_permissions(["read", " ASK ", "read"]) == ("ask", "read")
    with pytest.raises(BadSetting, match="“all”"):
        parse_permissions(["all"])
