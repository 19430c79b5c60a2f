"""Questions about messages of somebody use nothing else, and fail in words where it is unclear who is meant."""

from __future__ import annotations

import pytest

from engine.engine import Engine
from engine.errors import InvalidQuestion
from engine.models import Document, Overview, Passage, Question
from tests.support.engine_fixture import HERE
from tests.support.indexed_engine import OpenIndexed

PAINT, SLOW, LEAK = "The lifeboat needs paint.", "The lifeboat is slow.", "The lifeboat leaks."
BELL, SOLD = "The bell is broken.", "It is sold."
CHAT = (("Ada Lovell", PAINT), ("Bob Miles", SLOW), ("Bob Lattimer", LEAK), ("Ada Lovell", BELL))


def messages(space: str = "here", chat: tuple[tuple[str, str], ...] = CHAT, key: str = "chat") -> list[Document]:
    return [
        Document(f"{space} {key} {n}", space, "hall", "Talk", (Passage("1", text, author=author),), kind="conversation")
        for n, (author, text) in enumerate(chat)
    ]


async def texts(engine: Engine, *writers: str, overview: bool = True) -> set[str]:
    wanted = Overview("summary") if overview else None
    question = Question("What was said about the lifeboat?", HERE, writers=writers, overview=wanted)
    return {source.text for source in (await engine.retrieve(question)).sources}


async def test_only_messages_of_these_authors_are_used(indexed: OpenIndexed) -> None:
    engine = await indexed(*messages())
    assert await texts(engine, "ada") == {PAINT, BELL}
    assert await texts(engine, "@Bob Miles") == {SLOW}
    assert await texts(engine, "Ada and Bob Miles") == {PAINT, SLOW, BELL}
    assert await texts(engine, "Lattimer", overview=False) == {LEAK}


@pytest.mark.parametrize("overview", [True, False])
async def test_a_name_of_nobody_or_of_several_is_refused_in_words(indexed: OpenIndexed, *, overview: bool) -> None:
    engine = await indexed(*messages())
    with pytest.raises(InvalidQuestion, match="any messages by “Zoe”"):
        await texts(engine, "@Zoe", overview=overview)
    with pytest.raises(InvalidQuestion, match="“Bob Lattimer”, “Bob Miles”"):
        await texts(engine, "bob", overview=overview)


async def test_authors_outside_the_scope_are_unknown_and_make_no_name_ambiguous(indexed: OpenIndexed) -> None:
    engine = await indexed(*messages("theirs"), *messages(chat=(("Bob Ade", SOLD),)))
    assert await texts(engine, "bob") == {SOLD}
    with pytest.raises(InvalidQuestion, match="any messages"):
        await texts(engine, "Ada")
    await engine.documents.add(*messages(chat=(("Ada Lovelace", BELL),), key="later"))
    assert await texts(engine, "ada") == {BELL}
