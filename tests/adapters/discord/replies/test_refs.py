from __future__ import annotations

from adapters.discord.replies.refs import InteractionHandle, ReplyRef, build_nonce


def test_a_mark_comes_back_as_it_was() -> None:
    for mark in (ReplyRef("12", ("34", "56")), ReplyRef("12", ("34",), "p:1800:1:2:to:k:en")):
        assert ReplyRef.parse(str(mark)) == mark
    assert str(ReplyRef("12", ())) == ""
    assert ReplyRef.parse("") == ReplyRef("", ())


def test_a_handle_comes_back_as_it_was_whatever_its_token_is() -> None:
    handle = InteractionHandle("1", "2", "to:k:en", 1800.0, is_private=True, is_button=False)
    assert InteractionHandle.parse(str(handle)) == handle
    assert InteractionHandle.parse("") is None


def test_a_nonce_is_the_same_for_the_same_part_and_short_enough() -> None:
    assert build_nonce("a", 0) == build_nonce("a", 0)
    assert len({build_nonce("a", 0), build_nonce("a", 1), build_nonce("b", 0)}) == 3
    assert len(build_nonce("a" * 100, 12)) <= 25
