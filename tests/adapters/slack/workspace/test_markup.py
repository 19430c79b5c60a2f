from __future__ import annotations

import pytest

from adapters.slack.workspace.markup import find_mentioned_ids, to_plain_text


@pytest.mark.parametrize(
    ("text", "plain"),
    [
        ("<@U1|old> and <@U2|ben> in <#C1>", "@Ada and @ben in #roof"),
        ("<#C2|merger> and <#C1|merger>", "#private-channel and #roof"),  # the author's name for it is not shown
        ("<@U9> in <#C9> and <#C8|>", "@somebody in #private-channel and #private-channel"),
        ("<!here> <!subteam^S1|@devs> <!date^1^{date}|20 May>", "@here @devs 20 May"),
        ("<https://x.org/a?b=1&amp;c=2>", "https://x.org/a?b=1&c=2"),
        ("<https://x.org|the site>", "the site (https://x.org)"),
        ("<http://x.org|x.org> <mailto:a@x.org|a@x.org>", "http://x.org a@x.org"),
        ("a &lt; b &amp;&amp; c &gt; d; &amp;lt;", "a < b && c > d; &lt;"),
        ("&lt;@U1&gt;", "<@U1>"),
    ],
)
def test_markup_becomes_plain_text(text: str, plain: str) -> None:
    assert to_plain_text(text, {"U1": "Ada"}, {"C1": "roof"}) == plain


def test_all_mentioned_ids_are_found() -> None:
    assert find_mentioned_ids("<@U1> <@U2|ben> <#C1> <#C2|x>") == (frozenset({"U1", "U2"}), frozenset({"C1", "C2"}))
