from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.replies.mrkdwn import defuse_mentions, escape, notification_text, split_rendered, to_mrkdwn

SHOUTS = ["<!channel>", "<!here>", "<!everyone>", "<!subteam^S123|@devs>", "<@U123>", "<#C123|general>", "<!channel|x>"]


@pytest.mark.parametrize("shout", SHOUTS)
def test_nobody_is_called_by_markdown(shout: str) -> None:
    shown = defuse_mentions(f"Attention {shout} please")
    assert shout not in shown
    assert "<!c" not in shown


def test_a_person_is_named_and_not_called() -> None:
    assert (
        defuse_mentions("ask <@U123|x> or <@U9>", lambda id_: "Ada" if id_ == "U123" else "") == "ask @Ada or @somebody"
    )


def test_a_name_that_is_an_address_is_none() -> None:
    assert defuse_mentions("ask <@U123>", lambda _: "https://evil.example/x") == "ask @https[:]//evil[.]example/x"


def test_comments_and_comparisons_stay_as_they_are() -> None:
    assert defuse_mentions("a < b, <!-- note -->, <https://x.org>") == "a < b, <!-- note -->, <https://x.org>"


@given(st.text(alphabet="<@#!chanelU1>| \n"), st.text(alphabet="<@#!chanelU1>| \n"))
def test_a_text_without_people_grows_at_its_end_alone(head: str, tail: str) -> None:
    if "<@U" not in head + tail:
        assert defuse_mentions(head + tail).startswith(defuse_mentions(head))


@given(st.lists(st.sampled_from([*SHOUTS, "<", "!", "@", "channel>", " ", "U123>"])).map("".join))
def test_however_it_is_put_together_nobody_is_called(text: str) -> None:
    shown = defuse_mentions(text)
    assert not any(shout in shown for shout in SHOUTS)


def test_characters_of_commands_are_escaped() -> None:
    assert escape("<!here> & co") == "&lt;!here&gt; &amp; co"


def test_markdown_becomes_slacks_own_markup() -> None:
    text = "# Title\n\n**bold** *it* ~~gone~~ `a<b` [site](https://x.org/?a=1&b=2)\n\n- one\n- two\n\n1. a\n2. b\n"
    assert to_mrkdwn(text) == (
        "*Title*\n\n*bold* _it_ ~gone~ `a&lt;b` <https://x.org/?a=1&amp;b=2|site>\n\n• one\n• two\n\n1. a\n2. b"
    )


def test_tables_become_rows_and_code_stays_code() -> None:
    assert to_mrkdwn("| a | b |\n|---|---|\n| 1 | 2 |\n") == "a | b\n1 | 2"
    assert to_mrkdwn("```py\nif a < b:\n    pass\n```") == "```\nif a &lt; b:\n    pass\n```"
    assert to_mrkdwn("> said\n") == "&gt; said"


def test_markup_within_markdown_is_text() -> None:
    assert to_mrkdwn("<!channel> <b>x</b>") == "&lt;!channel&gt; &lt;b&gt;x&lt;/b&gt;"
    assert to_mrkdwn("[x](javascript:alert)") in ("x", "[x](javascript:alert)")


def test_a_notification_tells_the_beginning() -> None:
    assert notification_text("word " * 100, 20) == "word word word word…"


@given(st.text(max_size=400), st.integers(min_value=5, max_value=50))
def test_pieces_are_short_and_lose_nothing(text: str, limit: int) -> None:
    pieces = split_rendered(text, limit)
    assert "".join(pieces) == text
    assert all(len(piece) <= limit for piece in pieces)
