from __future__ import annotations

from adapters.discord.replies.refs import Handle, Mark, nonce


def test_a_mark_comes_back_as_it_was() -> None:
    for mark in (Mark("12", ("34", "56")), Mark("12", ("34",), "p:1800:1:2:to:k:en")):
        assert Mark.of(str(mark)) == mark
    assert str(Mark("12", ())) == ""
    assert Mark.of("") == Mark("", ())


def test_a_handle_comes_back_as_it_was_whatever_its_token_is() -> None:
    handle = Handle("1", "2", "to:k:en", 1800.0, private=True, click=False)
    assert Handle.of(str(handle)) == handle
    assert Handle.of("") is None


def test_a_nonce_is_the_same_for_the_same_part_and_short_enough() -> None:
    assert nonce("a", 0) == nonce("a", 0)
    assert len({nonce("a", 0), nonce("a", 1), nonce("b", 0)}) == 3
    assert len(nonce("a" * 100, 12)) <= 25
