"""A model that plays by rules: it reads excerpts, alone or together, as the embedded language does, and summarizes.

As a replier it serves the loopback server; as a provider it answers in this process and counts tokens.
"""

from __future__ import annotations

import json
import re
from collections.abc import AsyncGenerator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from engine.llm.client.protocol import CallParameters, ChatReply, EmbeddingResult, RerankResult, StreamDelta, TokenUsage
from engine.llm.offline.extraction import extract_by_rules
from engine.llm.offline.sentences import merge_lead_sentences
from engine.models import Excerpt
from engine.text.tokenizer import O200kTokenizer

D, END = "<|#|>", "<|COMPLETE|>"
SHARED = re.compile(r"<excerpts-(\w+)>\n(.*)\n</excerpts-\1>", re.DOTALL)
SINGLE_EXCERPT = re.compile(r"<text-(\w+)>\n(.*)\n</text-\1>", re.DOTALL)
SECTION_LINE = re.compile(r"^Its heading \(also data\): (.*)$", re.MULTILINE)
FRAGMENTS = re.compile(r"<descriptions-(\w+)>\n(.*)\n</descriptions-\1>", re.DOTALL)
EXCHANGE = 2  # messages of a first look


def build_reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """What a careful model would say; asked for a second look, it has nothing to add."""
    asked = str(messages[-1]["content"])
    if len(messages) > EXCHANGE:
        return END
    if found := SHARED.search(asked):
        return _shared(map(json.loads, found[2].split("\n")))
    if found := SINGLE_EXCERPT.search(asked):
        under = SECTION_LINE.search(asked)
        return "\n".join((*_rows(found[2], under[1] if under else ""), END))
    found = FRAGMENTS.search(asked)
    return _summaries(found[2].split("\n")) if found else "{}"


def _shared(excerpts: Any) -> str:
    rows, under = list[str](), ""
    for excerpt in excerpts:
        under = excerpt.get("under", under)
        rows += [f"excerpt{D}{excerpt['number']}", *_rows(excerpt["text"], under)]
    return "\n".join((*rows, END))


def _rows(text: str, under: str) -> list[str]:
    reading = extract_by_rules(Excerpt(text, under))
    mentions = [D.join(("entity", mention.name, mention.type, mention.description)) for mention in reading.mentions]
    links = [D.join(("relation", x.source, x.target, x.keywords, x.description)) for x in reading.links]
    return mentions + links


def _summaries(lines: Sequence[str]) -> str:
    told = [json.loads(line) for line in lines]
    if all(isinstance(each, str) for each in told):
        return merge_lead_sentences(told)
    rows = [
        D.join(("summary", str(each["number"]), " ".join(merge_lead_sentences(each["descriptions"]).split())))
        for each in told
    ]
    return "\n".join((*rows, END))


@dataclass(slots=True)
class RuleProvider:
    """Implements `Provider` for chat calls: counts calls and o200k_base tokens."""

    calls: int = 0
    input_tokens: int = 0
    output_tokens: int = 0

    async def preload(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is nothing to close."""

    async def chat(self, parameters: CallParameters) -> ChatReply:
        """A whole reply."""
        count, messages = O200kTokenizer().count, parameters["messages"]
        text = build_reply(messages)
        usage = TokenUsage(sum(count(message["content"]) for message in messages), count(text))
        self.calls += 1
        self.input_tokens += usage.input_tokens
        self.output_tokens += usage.output_tokens
        return ChatReply(text, "stop", usage)

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        """The same in one piece."""
        reply = await self.chat(parameters)
        yield StreamDelta(reply.text, reply.finish, reply.spent)

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        raise NotImplementedError

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        raise NotImplementedError
