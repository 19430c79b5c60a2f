"""The peer's process: LightRAG with its own defaults, commanded by JSON lines; runs in the peer's environment.

`python -m benchmarks.peer.lightrag_runner HOME VECTORS ADDRESS`. The model is replayed: the stored reply of a document
for its extraction, nothing more in the second pass, the first words of the descriptions as a summary.
"""

from __future__ import annotations

import asyncio
import json
import logging
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from lightrag import LightRAG, QueryParam
from lightrag.utils import EmbeddingFunc

from benchmarks.peer.runner import serve_commands, take_stdout, time_questions
from benchmarks.peer.vectors import DIM, CachedVectors

END = "<|COMPLETE|>"
EXTRACTION = ("---Input Text---\n```\n", "\n```\n\n---Output---")
SUMMARY = ("Description List:\n\n```\n", "\n```\n\n---Output---")


def cut_fenced(prompt: str, marks: tuple[str, str]) -> str | None:
    """The text between two marks of a prompt, or None."""
    _, mark, rest = prompt.partition(marks[0])
    return rest.rpartition(marks[1])[0] if mark else None


def summarize(lines: str) -> str:
    """The first words of each description: the same stub that Threadlore gets."""
    texts = [json.loads(line)["Description"] for line in lines.splitlines()]
    return " ".join(text[:200] for text in texts)[:2000]


def build_model(replies: Mapping[str, str]) -> Callable[..., Awaitable[str]]:
    """The stub model. A plain function: LightRAG copies its settings deeply."""

    async def complete(
        prompt: str,
        system_prompt: str | None = None,
        history_messages: Sequence[Mapping[str, str]] | None = None,
        **parameters: object,
    ) -> str:
        if history_messages:
            return END
        if (text := cut_fenced(prompt, EXTRACTION)) is not None:
            return replies[text]
        if (lines := cut_fenced(prompt, SUMMARY)) is not None:
            return summarize(lines)
        raise ValueError(f"There is no stored reply to this prompt: {prompt[:200]}")

    return complete


def build_embedder(vectors: CachedVectors) -> Callable[[list[str]], Awaitable[np.ndarray]]:
    async def embed(texts: list[str]) -> np.ndarray:
        return vectors.embed(texts)

    return embed


class LightRAGRunner:
    """Commands of the peer. `replies`: the stored reply by the text of the document."""

    def __init__(self, home: Path, vectors: CachedVectors) -> None:
        self.vectors, self.replies = vectors, dict[str, str]()
        self.rag = LightRAG(
            working_dir=str(home),
            llm_model_func=build_model(self.replies),
            llm_model_name="replay",
            embedding_func=EmbeddingFunc(embedding_dim=DIM, func=build_embedder(vectors), model_name="minilm"),
        )

    async def ingest(self, documents: Sequence[Mapping[str, str]]) -> None:
        """Insert documents, and fail if one of them is not processed."""
        self.replies.update((document["text"], document["reply"]) for document in documents)
        keys = [document["key"] for document in documents]
        await self.rag.ainsert(
            [document["text"] for document in documents], ids=keys, file_paths=[f"{key}.txt" for key in keys]
        )
        statuses = await self.rag.aget_docs_by_ids(keys)
        failed = [key for key in keys if statuses.get(key, {}).get("status") != "processed"]
        if failed:
            raise RuntimeError(f"{len(failed)} documents were not processed, for example {failed[0]}.")

    async def ingest_again(self, documents: Sequence[Mapping[str, str]]) -> None:
        await self.ingest(documents)

    async def delete(self, key: str) -> None:
        result = await self.rag.adelete_by_doc_id(key)
        if result.status != "success":
            raise RuntimeError(f"{key}: {result.message}")

    async def edit(self, document: Mapping[str, str]) -> None:
        """Delete and insert: a document with a known name is refused."""
        await self.delete(document["key"])
        await self.ingest([document])

    async def retrieve(self, mode: str, questions: list[dict[str, Any]], rounds: int) -> dict[str, Any]:
        return await time_questions(self._retrieve, self.vectors, mode, questions, rounds)

    async def _retrieve(self, mode: str, question: Mapping[str, Any]) -> list[str]:
        """The documents of the retrieved chunks, best first."""
        parameters = QueryParam(
            mode=mode, ll_keywords=list(question["low"]), hl_keywords=list(question["high"]), enable_rerank=False
        )
        found = await self.rag.aquery_data(question["text"], parameters)
        chunks = found.get("data", {}).get("chunks", [])
        return list(dict.fromkeys(chunk["chunk_id"].rpartition("-chunk-")[0] for chunk in chunks))


async def run(home: Path, file: Path, address: str) -> None:
    replies = take_stdout()
    logging.getLogger("lightrag").setLevel(logging.WARNING)
    runner = LightRAGRunner(home, CachedVectors(file, address))
    await runner.rag.initialize_storages()
    names = ("ingest", "ingest_again", "delete", "edit", "retrieve")
    await serve_commands({name: getattr(runner, name) for name in names}, runner.vectors, replies)
    await runner.rag.finalize_storages()


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
