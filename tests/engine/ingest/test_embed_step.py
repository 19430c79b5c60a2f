"""Chunks of open conversations grow: only the new text is embedded, and the whole once at the end."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from engine.engine import Engine
from engine.llm.checked_embedder import OTHER_UNRELATED_TEXTS, UNRELATED_TEXTS
from engine.models import Passage, Question
from engine.text.tokenizer import O200kTokenizer
from tests.support.engine_fixture import HERE, fetch_rows, open_memory_engine, thread
from tests.support.fake_embedder import HashEmbedder

WORDS = ("ferry", "roof", "bread", "lamp", "rope", "goat", "tide", "net", "coal", "bell", "salt", "boat")
PROBES = {*UNRELATED_TEXTS, *OTHER_UNRELATED_TEXTS}  # by which an embedder is measured once
MESSAGES = [
    Passage(
        f"m{n:03}", f"[10:{n:02}] Ada: what of the {word} number {n}, and who looks after it?", "", "", "Ada", None, n
    )
    for n, word in enumerate(WORDS)
]


async def add_messages(engine: Engine, count: int, *, is_open: bool = True) -> None:
    await engine.documents.add(replace(thread("w", "x", is_open=is_open), passages=tuple(MESSAGES[:count])))
    await engine.wait_until_indexed()


async def chunk_vectors(engine: Engine) -> list[np.ndarray]:
    """The vectors of each chunk, an array of shape (parts, dim) each."""
    store = engine._runtime.vectors
    found = await store.fetch("chunks", {row.id for row in await store.list_rows("chunks")})
    return [found[id_] for id_ in sorted(found)]


async def parts(engine: Engine) -> list[int]:
    return [len(vectors) for vectors in await chunk_vectors(engine)]


async def found_texts(engine: Engine, question: str) -> list[str]:
    return [source.text for source in (await engine.retrieve(Question(question, HERE, mode="naive"))).sources]


def tokens(texts: list[str]) -> int:
    """The tokens of the conversation's texts; neither questions nor facts."""
    return sum(O200kTokenizer().count(text) for text in texts if text.startswith("[10:"))


@pytest.mark.long
async def test_an_open_conversation_costs_at_most_twice_its_tokens(tmp_path: Path) -> None:
    embedder = HashEmbedder(max_tokens=512)
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await add_messages(engine, 1)
        for number in range(1, 12):
            await engine.documents.amend("w", upsert=[MESSAGES[number]])
            await engine.wait_until_indexed()
            assert MESSAGES[number].text in await found_texts(engine, f"{WORDS[number]} number {number}")
        whole = tokens([message.text for message in MESSAGES])
        assert tokens(embedder.texts) <= 1.2 * whole
        await engine.documents.amend("w", is_open=False)
        await engine.wait_until_indexed()
        assert tokens(embedder.texts) <= 2.2 * whole
        assert await parts(engine) == [1]
        assert (await engine.maintenance.verify()).is_clean
        closed = await chunk_vectors(engine)
    async with open_memory_engine(tmp_path / "at once") as engine:
        await add_messages(engine, 12, is_open=False)
        assert np.allclose(await chunk_vectors(engine), closed)


async def test_what_was_embedded_at_once_is_not_embedded_again_at_the_end(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await add_messages(engine, 1)
        await engine.documents.amend("w", is_open=False)
        await engine.wait_until_indexed()
        assert await parts(engine) == [1]
        await engine.maintenance.reindex()
        assert embedder.texts.count(MESSAGES[0].text) == 1


async def test_of_a_closed_conversation_that_goes_on_only_the_new_text_is_embedded(tmp_path: Path) -> None:
    embedder = HashEmbedder()
    async with open_memory_engine(tmp_path, embedder=embedder) as engine:
        await add_messages(engine, 5, is_open=False)
        embedder.texts.clear()
        await engine.documents.amend("w", upsert=[MESSAGES[5]], is_open=True)
        await engine.wait_until_indexed()
        assert [text for text in embedder.texts if text not in PROBES] == [MESSAGES[5].text]
        assert await parts(engine) == [2]


async def test_an_edit_and_a_restart_lose_nothing_and_another_embedder_embeds_all(tmp_path: Path) -> None:
    async with open_memory_engine(tmp_path) as engine:
        await add_messages(engine, 2)
        await engine.documents.amend("w", upsert=[MESSAGES[2]])
    async with open_memory_engine(tmp_path) as engine:
        await engine.wait_until_indexed()
        await engine.documents.amend("w", upsert=[replace(MESSAGES[0], text="Bob: the whistle.")])
        await engine.maintenance.reindex()
        assert "Bob: the whistle." in await found_texts(engine, "whistle")
    other = HashEmbedder(dim=64)
    async with open_memory_engine(tmp_path, embedder=other) as engine:
        await engine.maintenance.reindex()
        assert {vectors.shape[1] for vectors in await chunk_vectors(engine)} == {64}
        assert "\n".join(["Bob: the whistle.", *(message.text for message in MESSAGES[1:3])]) in other.texts
        await engine.documents.amend("w", remove=["m001"], is_open=False)
        await engine.wait_until_indexed()
        assert await parts(engine) == [1]
        assert (await engine.maintenance.verify()).is_clean
        assert await fetch_rows(engine._ledger, "SELECT 1 FROM open_chunk_vector") == []
