"""Our process: an engine with its default options, commanded by JSON lines.

`python -m benchmarks.peer.threadlore_runner HOME VECTORS ADDRESS`. The model is replayed behind the real client:
prompts are built, calls shared, replies parsed and cached as with any model.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peer.runner import serve_commands, take_stdout, time_questions
from benchmarks.peer.vectors import DIM, CachedVectors
from benchmarks.rule_model import END, EXCHANGE, FRAGMENTS, SHARED, SINGLE_EXCERPT, D, RuleProvider
from engine import Document, Engine, Passage, Question, Scope
from engine.llm.client.client import ModelClient
from engine.llm.client.protocol import CallParameters, ChatReply, TokenUsage
from engine.llm.config import ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.memory import raise_gc_threshold
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter

SPACE = "peer"
SCOPE = Scope.of(SPACE)
MAX_TOKENS = 128  # as MiniLMEmbedder declares it, so that its 256 word pieces hold every text


def summarize(texts: Iterable[str]) -> str:
    """The first words of each description: the same stub that the peer gets."""
    return " ".join(text[:200] for text in texts)[:2000]


class ReplayProvider(RuleProvider):
    """Answers extraction with the stored reply of each text, and summaries with first words."""

    def __init__(self) -> None:
        super().__init__()
        self.replies = dict[str, str]()

    async def chat(self, parameters: CallParameters) -> ChatReply:
        return ChatReply(self.build_reply(parameters["messages"]), "stop", TokenUsage())

    def build_reply(self, messages: Sequence[Mapping[str, Any]]) -> str:
        asked = str(messages[-1]["content"])
        if len(messages) > EXCHANGE:
            return END
        if found := SHARED.search(asked):
            excerpts = [json.loads(line) for line in found[2].split("\n")]
            parts = [f"excerpt{D}{excerpt['number']}\n{self._reply_to(excerpt['text'])}" for excerpt in excerpts]
            return "\n".join((*parts, END))
        if found := SINGLE_EXCERPT.search(asked):
            return f"{self._reply_to(found[2])}\n{END}"
        if found := FRAGMENTS.search(asked):
            return build_summaries(found[2].split("\n"))
        raise ValueError(f"There is no stored reply to this prompt: {asked[:200]}")

    def _reply_to(self, text: str) -> str:
        return self.replies[text].removesuffix(END).rstrip()


def build_summaries(lines: Sequence[str]) -> str:
    """One summary of plain descriptions, or a row for each of several names."""
    given = [json.loads(line) for line in lines]
    if all(isinstance(each, str) for each in given):
        return summarize(given)
    rows = [f"summary{D}{each['number']}{D}{' '.join(summarize(each['descriptions']).split())}" for each in given]
    return "\n".join((*rows, END))


class CachedEmbedder:
    """Implements `Embedder` with the vectors that both systems share."""

    name, dim, max_tokens = "minilm", DIM, MAX_TOKENS

    def __init__(self, vectors: CachedVectors) -> None:
        self.vectors = vectors

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return self.vectors.embed(texts)


class ThreadloreRunner:
    """Commands of an engine."""

    def __init__(self, engine: Engine, provider: ReplayProvider, vectors: CachedVectors) -> None:
        self.engine, self.provider, self.vectors = engine, provider, vectors

    async def ingest(self, documents: Sequence[Mapping[str, str]]) -> None:
        """Add documents and wait until they are indexed; fails if one of them is not."""
        self.provider.replies.update((document["text"], document["reply"]) for document in documents)
        for document in documents:
            passage = Passage("1", document["text"])
            await self.engine.documents.add(Document(document["key"], SPACE, SPACE, document["key"], (passage,)))
        await self.engine.wait_until_indexed()
        if problems := await self.engine.maintenance.list_problems():
            raise RuntimeError(problems[0])
        last = await self.engine.documents.get_status(documents[-1]["key"], SCOPE)
        if last.status != "indexed":
            raise RuntimeError(f"{documents[-1]['key']} is {last.status}.")

    async def ingest_again(self, documents: Sequence[Mapping[str, str]]) -> None:
        await self.ingest(documents)

    async def delete(self, key: str) -> None:
        if not await self.engine.documents.forget(key):
            raise RuntimeError(f"{key} is unknown.")
        await self.engine.wait_until_indexed()

    async def edit(self, document: Mapping[str, str]) -> None:
        await self.ingest([document])

    async def retrieve(self, mode: str, questions: list[dict[str, Any]], rounds: int) -> dict[str, Any]:
        return await time_questions(self._retrieve, self.vectors, mode, questions, rounds)

    async def _retrieve(self, mode: str, question: Mapping[str, Any]) -> list[str]:
        """The documents of the retrieved passages, best first."""
        low, high = tuple(question["low"]), tuple(question["high"])
        context = await self.engine.retrieve(
            Question(question["text"], SCOPE, mode=mode, low=low, high=high, rerank=False)  # type: ignore[arg-type]
        )
        return list(dict.fromkeys(source.document for source in context.sources))


async def run(home: Path, file: Path, address: str) -> None:
    replies = take_stdout()
    raise_gc_threshold()  # as the program does
    vectors, provider = CachedVectors(file, address), ReplayProvider()
    language = LiteLLMModel(LLMConfig(ModelConfig("replay")), ModelClient(provider=provider), O200kTokenizer().count)
    async with Engine.open(home, language=language, embedder=CachedEmbedder(vectors)) as engine:
        runner = ThreadloreRunner(engine, provider, vectors)
        names = ("ingest", "ingest_again", "delete", "edit", "retrieve")
        await serve_commands({name: getattr(runner, name) for name in names}, vectors, replies)


if __name__ == "__main__":
    asyncio.run(run(Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]))
