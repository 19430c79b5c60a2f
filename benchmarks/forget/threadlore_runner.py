"""Threadlore's engine with its default options through one history.

`python -m benchmarks.forget.threadlore_runner HISTORY HOME` prints what its readers got, as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.forget.history import HUB, SPACES, History, Step, load_history
from benchmarks.forget.skills import DIM, END, embed, extract
from benchmarks.peer.runner import take_stdout
from benchmarks.peer.threadlore_runner import build_summaries
from benchmarks.rule_model import EXCHANGE, FRAGMENTS, SHARED, SINGLE_EXCERPT, D, RuleProvider
from engine import Document, Engine, Passage, Question, Scope
from engine.llm.client.client import ModelClient
from engine.llm.client.protocol import CallParameters, ChatReply, TokenUsage
from engine.llm.config import ModelConfig
from engine.llm.remote_model import LiteLLMModel, LLMConfig
from engine.text.tokenizer import O200kTokenizer
from engine.usage import UsageMeter

MODES = ("mix", "local", "naive")


class EchoProvider(RuleProvider):
    """Extracts by rule, keeps every description in a summary, and answers with all that it is given."""

    async def chat(self, parameters: CallParameters) -> ChatReply:
        return ChatReply(self.build_reply(parameters["messages"]), "stop", TokenUsage())

    def build_reply(self, messages: Sequence[Mapping[str, Any]]) -> str:
        asked = str(messages[-1]["content"])
        if found := SHARED.search(asked):
            excerpts = [json.loads(line) for line in found[2].split("\n")]
            parts = [f"excerpt{D}{excerpt['number']}\n{_rows(excerpt['text'])}" for excerpt in excerpts]
            return END if len(messages) > EXCHANGE else "\n".join((*parts, END))
        if found := SINGLE_EXCERPT.search(asked):
            return END if len(messages) > EXCHANGE else f"{_rows(found[2])}\n{END}"
        if found := FRAGMENTS.search(asked):
            return build_summaries(found[2].split("\n"))
        return "\n".join(str(message["content"]) for message in messages)


def _rows(text: str) -> str:
    return extract(text).removesuffix(END).rstrip()


class HashVectors:
    """Implements `Embedder` with hashed words."""

    name, dim, max_tokens = "hash", DIM, 512

    async def embed(self, texts: Sequence[str], meter: UsageMeter) -> np.ndarray:
        return embed(texts)


async def apply(engine: Engine, step: Step) -> None:
    if step.action == "delete":
        await engine.documents.forget(step.document)
    else:
        passages = tuple(Passage(str(number), each.sentence) for number, each in enumerate(step.facts))
        await engine.documents.add(Document(step.document, step.space, step.space, step.document, passages))
    await engine.wait_until_indexed()


async def ask_all(engine: Engine, history: History) -> dict[str, dict[str, list[str]]]:
    """What each question got in each space: prompts (all that an answer can say), what was retrieved, the graph."""
    found = dict[str, dict[str, list[str]]]()
    for space in SPACES:
        scope = Scope.of(space)
        answers, retrieved, graph = list[str](), list[str](), list[str]()
        for fact in history.list_facts(space):
            for mode in MODES:
                keywords: dict[str, Any] = {"mode": mode, "low": (fact.person,), "high": (fact.thing,)}
                asked = Question(fact.question, scope, **keywords)
                messages = await engine.build_messages(asked)
                answer = await engine.ask(asked)
                said = [piece async for piece in answer]
                answers.append(repr([said, answer.sources, messages]))
                retrieved.append(repr(await engine.retrieve(asked)))
            if await engine.graph.get_entity(fact.person, scope) is not None:
                graph.append(repr(await engine.graph.get_provenance(fact.person, scope)))
        graph.append(repr(await engine.graph.get_entity(HUB, scope)))
        found[space] = {"answers": answers, "retrieval": retrieved, "graph": graph}
    return found


async def run(history: History, home: Path) -> dict[str, dict[str, list[str]]]:
    config = LLMConfig(ModelConfig("stub"))
    language = LiteLLMModel(config, ModelClient(provider=EchoProvider()), O200kTokenizer().count)
    async with Engine.open(home, language=language, embedder=HashVectors()) as engine:
        for step in history.added:
            await apply(engine, step)
        await ask_all(engine, history)
        for step in history.changes:
            await apply(engine, step)
        found = await ask_all(engine, history)
        await engine.maintenance.compact()
    return found


if __name__ == "__main__":
    replies = take_stdout()
    print(json.dumps(asyncio.run(run(load_history(Path(sys.argv[1])), Path(sys.argv[2])))), file=replies, flush=True)
