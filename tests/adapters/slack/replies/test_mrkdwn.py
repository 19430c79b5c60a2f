from __future__ import annotations

import time
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.slack.replies.mrkdwn import defuse_mentions, notification_text, split_rendered, to_mrkdwn
from adapters.slack.workspace.markup import escape

MENTIONS = ["<!channel>", "<!here>", "<!everyone>", "<!subteam^S1|@devs>", "<@U123>", "<#C123|general>", "<!channel|x>"]
NAMES = {"U123": "Ada", "U7": "https://evil.example/x"}


@pytest.mark.parametrize(
    ("markdown", "defused"),
    [
        ("ask <@U123|x> or <@U9>", "ask @Ada or @somebody"),
        ("ask <@U7>", "ask @https[:]//evil[.]example/x"),
        ("a < b, <!-- note -->, <https://x.org>", "a < b, <!-- note -->, <https://x.org>"),
        ("<!channel> <#C1>", "<!\u2060channel> <#\u2060C1>"),
    ],
)
def test_mentions_become_names_or_are_defused(markdown: str, defused: str) -> None:
    assert defuse_mentions(markdown, lambda user: NAMES.get(user, "")) == defused


@given(st.text(alphabet="<@#!chanelU1>| \n"), st.text(alphabet="<@#!chanelU1>| \n"))
def test_a_longer_text_without_people_only_grows_at_its_end(head: str, tail: str) -> None:
    if "<@U" not in head + tail:
        assert defuse_mentions(head + tail).startswith(defuse_mentions(head))


@given(st.lists(st.sampled_from([*MENTIONS, "<", "!", "@", "channel>", " ", "U123>"])).map("".join))
def test_no_combination_of_pieces_notifies_anyone(text: str) -> None:
    defused = defuse_mentions(text)
    assert not any(mention in defused for mention in MENTIONS)


@pytest.mark.parametrize(
    ("markdown", "mrkdwn"),
    [
        ("# Title *x*", "*Title _x_*"),
        ("# **See** <https://x.org/*a*>", "*See <https://x.org/*a*|https://x.org/*a*>*"),
        ("**bold** *it* ~~gone~~ `a<b`", "*bold* _it_ ~gone~ `a&lt;b`"),
        ("[site](https://x.org/?a=1&b=2)", "<https://x.org/?a=1&amp;b=2|site>"),
        ("[x](javascript:alert)", "[x](javascript:alert)"),
        ("- one\n- two\n\n1. a\n2. b\n", "• one\n• two\n\n1. a\n2. b"),
        ("- one\n  - two\n", "• one\n    • two"),
        ("| a | b |\n|---|---|\n| 1 | 2 |\n", "a | b\n1 | 2"),
        ("```py\nif a < b:\n    pass\n```", "```\nif a &lt; b:\n    pass\n```"),
        ("> said\n", "&gt; said"),
        ("a\n\n---\n\nb", "a\n\n———\nb"),
        ("<!channel> <b>x</b>", "&lt;!channel&gt; &lt;b&gt;x&lt;/b&gt;"),
    ],
)
def test_markdown_becomes_mrkdwn(markdown: str, mrkdwn: str) -> None:
    assert to_mrkdwn(markdown) == mrkdwn


def test_control_characters_are_escaped() -> None:
    assert escape("<!here> & co") == "&lt;!here&gt; &amp; co"


def test_a_notification_shows_the_start() -> None:
    assert notification_text("word " * 100, 20) == "word word word word…"


@given(st.text(max_size=400), st.integers(min_value=5, max_value=50))
def test_pieces_are_short_and_lose_nothing(text: str, limit: int) -> None:
    pieces = split_rendered(text, limit)
    assert "".join(pieces) == text
    assert all(len(piece) <= limit for piece in pieces)


def took(call: Callable[[], object]) -> float:
    """Seconds of the processor for the quicker of two calls: the search for garbage may fall into one."""
    spent = []
    for _ in range(2):
        started = time.thread_time()
        call()
        spent.append(time.thread_time() - started)
    return min(spent)


HOSTILE = "[¦](¦![¦[a](¦*a_¦**a¦_¦`¦> ¦- a\n  ¦[x][¦| a ¦<¦&#91;¦~~a¦\\¦a¦\n"


@pytest.mark.share(6)
@pytest.mark.parametrize("unit", HOSTILE.split("¦"), ids=ascii)
def test_the_longest_message_is_converted_in_a_moment_whatever_is_in_it(unit: str) -> None:
    text = unit * (11_000 // len(unit))
    assert took(lambda: to_mrkdwn(text)) < 0.25
    assert took(lambda: notification_text(text, 300)) < 0.25
