"""Who can find what is shared in a channel is said in one sentence, from its present facts."""

from __future__ import annotations

from dataclasses import replace

from bot.platform.models import Channel
from bot.texts.overviews.readers import ALL_MEMBERS, ONLY_YOU, describe_own_readers, describe_readers
from tests.support.builders import ROOF

CLOSED = Channel(ROOF, "roof", "closed", frozenset({"ada", "bob"}))


def test_the_sentence_follows_the_channel() -> None:
    assert describe_readers(None) == ONLY_YOU
    assert describe_readers(replace(CLOSED, kind="direct")) == ONLY_YOU
    assert describe_readers(replace(CLOSED, kind="open")) == ALL_MEMBERS
    assert "age-restricted" in describe_readers(replace(CLOSED, kind="open", adult=True))
    assert "other organizations" in describe_readers(replace(CLOSED, shared=True))
    assert "other organizations" in describe_readers(replace(CLOSED, kind="open", shared=True))
    assert describe_readers(CLOSED) == "Only the 2 members of #roof can find this, also in digests and catch-ups."
    assert "Only the 1 member of" in describe_readers(replace(CLOSED, members=frozenset({"ada"})))
    assert "Everyone who can read this channel" in describe_readers(replace(CLOSED, members=frozenset()))


def test_what_is_uploaded_on_the_page_stays_with_the_visitor_or_the_space() -> None:
    assert describe_own_readers(is_space=False).startswith("Only you")
    assert "this space" in describe_own_readers(is_space=True)
