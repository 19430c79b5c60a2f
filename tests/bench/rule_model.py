"""A model that plays by rules: it reads excerpts, alone or together, as the embedded language does, and summarises.

As a replier it serves the loopback server; as a provider it answers in this process and counts tokens.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from engine.llm.client.protocol import Piece, Reply, Scores, Spent, Vectors
from engine.llm.offline.extraction import notice
from engine.llm.offline.lead_sentences import lead
from engine.models import Excerpt, Message
from engine.text.tokenizer import O200k

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Mapping, Sequence

    from engine.llm.client.protocol import Parameters

D, END = "<|#|>", "<|COMPLETE|>"
SHARED = re.compile(r"<excerpts-(\w+)>\n(.*)\n</excerpts-\1>", re.DOTALL)
ALONE = re.compile(r"<text-(\w+)>\n(.*)\n</text-\1>", re.DOTALL)
UNDER = re.compile(r"^It stands under \(data too\): (.*)$", re.MULTILINE)
FRAGMENTS = re.compile(r"<descriptions-(\w+)>\n(.*)\n</descriptions-\1>", re.DOTALL)
EXCHANGE = 2  # messages of a first look


def reply(messages: Sequence[Mapping[str, Any]]) -> str:
    """What a careful model would say; asked for a second look, it has nothing to add."""
    asked = str(messages[-1]["content"])
    if len(messages) > EXCHANGE:
        return END
    if found := SHARED.search(asked):
        return _shared(map(json.loads, found[2].split("\n")))
    if found := ALONE.search(asked):
        under = UNDER.search(asked)
        return "\n".join((*_rows(found[2], under[1] if under else ""), END))
    found = FRAGMENTS.search(asked)
    return _summaries(found[2].split("\n")) if found else "{}"


def _shared(excerpts: Any) -> str:
    rows, under = list[str](), ""
    for each in excerpts:
        under = each.get("under", under)
        rows += [f"excerpt{D}{each['number']}", *_rows(each["text"], under)]
    return "\n".join((*rows, END))


def _rows(text: str, under: str) -> list[str]:
    reading = notice(Excerpt(text, under))
    mentions = [D.join(("entity", each.name, each.type, each.description)) for each in reading.mentions]
    links = [D.join(("relation", x.source, x.target, x.keywords, x.description)) for x in reading.links]
    return mentions + links


def _summaries(lines: Sequence[str]) -> str:
    told = [json.loads(line) for line in lines]
    if all(isinstance(each, str) for each in told):
        return lead(told)
    rows = [D.join(("summary", str(each["number"]), " ".join(lead(each["descriptions"]).split()))) for each in told]
    return "\n".join((*rows, END))


@dataclass(slots=True)
class RuleProvider:
    """Implements `Provider`. `asked` are the messages of every chat call, `sent` and `said` its o200k_base tokens."""

    asked: list[list[Message]] = field(default_factory=list)
    sent: int = 0
    said: int = 0

    async def ready(self) -> None:
        """There is nothing to load."""

    async def close(self) -> None:
        """There is nothing to close."""

    async def chat(self, parameters: Parameters) -> Reply:
        """A whole reply."""
        count, messages = O200k().count, parameters["messages"]
        text = reply(messages)
        spent = Spent(sum(count(each["content"]) for each in messages), count(text))
        self.asked.append([Message(each["role"], each["content"]) for each in messages])
        self.sent, self.said = self.sent + spent.sent, self.said + spent.said
        return Reply(text, "stop", spent)

    async def stream(self, parameters: Parameters) -> AsyncGenerator[Piece]:
        """The same in one piece."""
        made = await self.chat(parameters)
        yield Piece(made.text, made.finish, made.spent)

    async def embed(self, parameters: Parameters) -> Vectors:
        """It does not embed."""
        raise NotImplementedError

    async def rerank(self, parameters: Parameters) -> Scores:
        """It does not rerank."""
        raise NotImplementedError
