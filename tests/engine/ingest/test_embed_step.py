"""Chunks of open conversations grow with every message: only what comes is embedded, and the whole once at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from engine.models import Passage, Question
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, open_memory_engine, sqlite_ledger, thread
from tests.support.fake_embedder import HashEmbedder

if TYPE_CHECKING:
    from pathlib import Path

    from engine.engine import Engine

WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net", "coal", "bell", "salt", "boat")


def message(number: int) -> Passage:
    text = f"[10:{number:02}] Ada: what of the {WORDS[number % len(WORDS)]} number {number}, and who looks after it?"
    return Passage(f"m{number:03}", text, author="Ada", position=number)


async def parts(engine: Engine) -> list[int]:
    """How many vectors each chunk has."""
    rows = await engine._runtime.vectors.list_rows("chunks")
    return [sum(row.id == id_ for row in rows) for id_ in sorted({row.id for row in rows})]


async def vectors(engine: Engine) -> np.ndarray:
    rows = await engine._runtime.vectors.list_rows("chunks")
    found = await engine._runtime.vectors.fetch("chunks", {row.id for row in rows})
    return np.concatenate([found[id_] for id_ in sorted(found)])


def tokens(texts: list[str]) -> int:
    return sum(map(O200kTokenizer().count, texts))


def chats(embedder: HashEmbedder) -> list[str]:
    """The texts of conversations that were embedded; neither questions nor facts."""
    return [text for text in embedder.texts if text.startswith("[10:")]


async def test_an_open_window_costs_twice_its_tokens_at_most(tmp_path: Path) -> None:
    embedder = HashEmbedder(max_tokens=512)
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(replace(thread("w", "x"), passages=(message(0),)))
        await engine.wait_until_indexed()
        for number in range(1, 12):
            await engine.amend("w", upsert=[message(number)])
            await engine.wait_until_indexed()
            question = Question(f"{WORDS[number]} number {number}", HERE, mode="naive")
            assert message(number).text in [source.text for source in (await engine.retrieve(question)).sources]
        text = tokens([message(number).text for number in range(12)])
        assert tokens(chats(embedder)) <= 1.2 * text
        await engine.amend("w", is_open=False)
        await engine.wait_until_indexed()
        assert tokens(chats(embedder)) <= 2.2 * text
        assert await parts(engine) == [1]
        assert (await engine.verify()).is_clean
        closed = await vectors(engine)
    async with open_memory_engine(tmp_path / "at once") as engine:
        passages = tuple(message(number) for number in range(12))
        await engine.add(replace(thread("w", "x", is_open=False), passages=passages))
        await engine.wait_until_indexed()
        assert np.allclose(await vectors(engine), closed)


async def test_what_was_embedded_at_once_is_not_embedded_again_at_the_end(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await engine.add(thread("w", "Ada met Bob."))
        await engine.wait_until_indexed()
        await engine.amend("w", is_open=False)
        await engine.wait_until_indexed()
        assert await parts(engine) == [1]
        await engine.rebuild()
        assert embedder.texts.count("Ada met Bob.") == 1


async def test_a_closed_conversation_that_goes_on_is_not_embedded_anew(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        passages = tuple(message(number) for number in range(5))
        await engine.add(replace(thread("w", "x", is_open=False), passages=passages))
        await engine.wait_until_indexed()
        embedder.texts.clear()
        await engine.amend("w", upsert=[message(5)], is_open=True)
        await engine.wait_until_indexed()
        assert embedder.texts == [message(5).text]
        assert await parts(engine) == [2]


async def test_an_edit_and_a_restart_lose_nothing(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(replace(thread("w", "x"), passages=(message(0), message(1))))
        await engine.wait_until_indexed()
        await engine.amend("w", upsert=[message(2)])
    async with open_memory_engine(tmp_path) as engine:
        await engine.wait_until_indexed()
        await engine.amend("w", upsert=[replace(message(0), text="Bob: the whistle.")])
        await engine.rebuild()
        question = Question("whistle", HERE, mode="naive")
        assert "Bob: the whistle." in [source.text for source in (await engine.retrieve(question)).sources]
        await engine.amend("w", remove=["m001"], is_open=False)
        await engine.wait_until_indexed()
        assert await parts(engine) == [1]
        assert (await engine.verify()).is_clean
        async with sqlite_ledger(engine._ledger).read_connection() as db:
            assert list(await db.execute_fetchall("SELECT 1 FROM open_chunk_vector")) == []


async def test_another_embedder_makes_them_anew(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await engine.add(replace(thread("w", "x"), passages=(message(0), message(1))))
        await engine.wait_until_indexed()
        await engine.amend("w", upsert=[message(2)])
        await engine.wait_until_indexed()
    other = HashEmbedder(dim=64, name="other")
    async with open_memory_engine(tmp_path, embedder=other) as engine:
        await engine.rebuild()
        assert (await vectors(engine)).shape[1] == 64
        assert "\n".join(message(number).text for number in range(3)) in other.texts
