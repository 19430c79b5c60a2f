from __future__ import annotations

from adapters.slack.workspace.markup import find_mentioned_ids, to_plain_text

PEOPLE = {"U1": "Ada"}
CHANNELS = {"C1": "roof"}


def read(text: str) -> str:
    return to_plain_text(text, PEOPLE, CHANNELS)


def test_people_and_channels_are_read_by_their_names() -> None:
    assert read("<@U1|old> and <@U2|ben> in <#C1>") == "@Ada and @ben in #roof"


def test_the_name_that_an_author_could_see_beside_a_channel_is_not_believed() -> None:
    assert read("<#C2|merger> and <#C1|merger>") == "#private-channel and #roof"


def test_who_is_not_known_is_somebody_and_a_hidden_channel_has_no_name() -> None:
    assert read("<@U9> in <#C9> and <#C8|>") == "@somebody in #private-channel and #private-channel"


def test_groups_and_shouts_are_words() -> None:
    assert read("<!here> <!subteam^S1|@devs> <!date^1^{date}|20 May>") == "@here @devs 20 May"


def test_an_address_is_never_lost_and_never_doubled() -> None:
    assert read("<https://x.org/a?b=1&amp;c=2>") == "https://x.org/a?b=1&c=2"
    assert read("<https://x.org|the site>") == "the site (https://x.org)"
    assert read("<http://x.org|x.org> <mailto:a@x.org|a@x.org>") == "http://x.org a@x.org"


def test_entities_are_characters_and_are_resolved_once() -> None:
    assert read("a &lt; b &amp;&amp; c &gt; d; &amp;lt;") == "a < b && c > d; &lt;"


def test_what_looks_like_a_mention_after_unescaping_is_none() -> None:
    assert read("&lt;@U1&gt;") == "<@U1>"


def test_all_names_are_asked_for() -> None:
    assert find_mentioned_ids("<@U1> <@U2|ben> <#C1> <#C2|x>") == (frozenset({"U1", "U2"}), frozenset({"C1", "C2"}))
