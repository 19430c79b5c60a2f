"""Replies with which a model, or whoever writes its texts, tries to stop the event loop."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from typing import Any

from engine.llm.client.protocol import ChatReply, EmbeddingResult, RerankResult, StreamDelta, TokenUsage

LENGTH = 1_000_000  # characters
DELIMITED = "entity<|#|>A{}<|#|>person<|#|>Ada\n"
KEYED = '{{"name": "N{0}", "type": "t", "description": "d", "source": "N{0}", "target": "M{0}", "keywords": "k"}}'


def repeated(unit: str, start: str = "", end: str = "") -> str:
    return start + unit * ((LENGTH - len(start) - len(end)) // len(unit)) + end


HOSTILE = {
    "nested brackets": repeated('["[', '{"entities": ['),
    "nested objects": repeated('{"a":'),
    "open brackets": repeated("["),
    "links without end": repeated("[a]("),
    "pictures": repeated("!["),
    "quotes": repeated('"', '{"entities": "'),
    "apostrophes": repeated("'", "{'a': '"),
    "delimiters": repeated("<|#|>", "entity"),
    "hashes": repeated("<|#", "entity<|#|>"),
    "emphasis": repeated("*a_"),
    "backticks": repeated("`"),
    "unclosed fences": repeated("```\n"),
    "quote marks": repeated("> "),
    "lists in lists": "".join("  " * depth + "- a\n" for depth in range(1_400)),
    "huge number": repeated("9", '{"high_level_keywords": '),
    "numbers": repeated("[1]"),
    "one token": repeated("a"),
    "one line of Han": repeated("字"),
    "marks on a letter": repeated("\u0301\u0327", "a"),
    "blanks": repeated(" "),
    "line ends": repeated("\n"),
    "entities": repeated("&#91;"),
    "thoughts": repeated("<think>a</think>b"),
    "open thoughts": repeated("<think>"),
    "closed thoughts": repeated("a</think>"),
    "many facts": "".join(map(DELIMITED.format, range(LENGTH // len(DELIMITED)))),
    "many objects": '{"entities": [' + ",".join(map(KEYED.format, range(LENGTH // len(KEYED)))),
    "many keywords": '{"low_level_keywords": [' + ",".join(f'"k{number}"' for number in range(LENGTH // 10)),
    "headers": repeated("excerpt<|#|>1\n"),
    "summaries": repeated("summary<|#|>1<|#|>x\n"),
    "addresses": repeated("https://a.example/b "),
    "table": repeated("| a | b |\n", "| a | b |\n|---|---|\n"),
}


class HostileProvider:
    """Implements `Provider`: every reply is the same text, as a whole, or streamed in one piece."""

    def __init__(self, reply: str = "") -> None:
        self.reply = reply

    async def preload(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to close."""

    async def chat(self, parameters: dict[str, Any]) -> ChatReply:
        del parameters
        return ChatReply(self.reply, "stop", TokenUsage())

    async def stream(self, parameters: dict[str, Any]) -> AsyncGenerator[StreamDelta]:
        del parameters
        yield StreamDelta(self.reply)
        yield StreamDelta(finish="stop", spent=TokenUsage())

    async def embed(self, parameters: dict[str, Any]) -> EmbeddingResult:
        raise NotImplementedError(parameters)

    async def rerank(self, parameters: dict[str, Any]) -> RerankResult:
        del parameters
        row = {"index": 0, "relevance_score": self.reply}
        return RerankResult([row] * (LENGTH // 10), TokenUsage())
