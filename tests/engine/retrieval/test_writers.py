"""Questions about what somebody wrote draw on nothing else, and fail in words where it is not clear who is meant."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from engine.errors import InvalidQuestion
from engine.models import Document, Overview, Passage, Question, Scope
from tests.support.engine_fixture import HERE, open_memory_engine

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engine import Engine

SAID = (
    ("Ada Lovell", "The lifeboat needs paint."),
    ("Bob Miles", "The lifeboat is slow."),
    ("Bob Lattimer", "The lifeboat leaks."),
    ("Ada Lovell", "The bell is broken."),
)


async def told(engine: Engine, space: str = "here") -> None:
    for number, (author, text) in enumerate(SAID):
        passage = Passage("1", text, author=author)
        await engine.add(Document(f"{space}-{number}", space, "hall", "Talk", (passage,), kind="conversation"))


async def texts(engine: Engine, *writers: str, overview: bool = True, scope: Scope = HERE) -> set[str]:
    made = Overview("summary") if overview else None
    asked = Question("What was said about the lifeboat?", scope, writers=writers, overview=made)
    return {source.text for source in (await engine.retrieve(asked)).sources}


async def test_only_what_they_wrote_is_recalled(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await told(engine)
        assert await texts(engine, "ada") == {SAID[0][1], SAID[3][1]}
        assert await texts(engine, "@Bob Miles") == {SAID[1][1]}
        assert await texts(engine, "Ada and Bob Miles") == {SAID[0][1], SAID[1][1], SAID[3][1]}
        assert await texts(engine, "Lattimer", overview=False) == {SAID[2][1]}


@pytest.mark.parametrize("overview", [True, False])
async def test_a_name_of_nobody_or_of_several_is_refused_in_words(tmp_path: Path, overview: bool) -> None:  # noqa: FBT001 - a parameter of the test
    async with open_memory_engine(tmp_path) as engine:
        await told(engine)
        with pytest.raises(InvalidQuestion, match="any messages by “Zoe”"):
            await texts(engine, "@Zoe", overview=overview)
        with pytest.raises(InvalidQuestion, match="“Bob Lattimer”, “Bob Miles”"):
            await texts(engine, "bob", overview=overview)


async def test_authors_outside_the_scope_are_nobody(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await told(engine, space="theirs")
        await engine.add(Document("mine", "here", "hall", "Talk", (Passage("1", "It is sold.", author="Bob Ade"),)))
        assert await texts(engine, "bob") == {"It is sold."}
        with pytest.raises(InvalidQuestion, match="any messages"):
            await texts(engine, "Ada")


async def test_an_author_outside_the_scope_changes_no_name_within_it(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await told(engine, space="theirs")
        await engine.add(
            Document("mine", "here", "hall", "Talk", (Passage("1", "It is sold.", author="Ada Lovelace"),))
        )
        assert await texts(engine, "ada") == {"It is sold."}
