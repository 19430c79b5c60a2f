"""A model provider that obeys whoever speaks: each reply tells all that the call was shown, and attacks its readers.

It sits where the wire of a provider is, so that prompts, parsers and filters of every call are the product's own.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from functools import cache
from importlib.resources import files

from engine.llm.client.client import ModelClient
from engine.llm.client.protocol import CallParameters, ChatReply, EmbeddingResult, RerankResult, StreamDelta, TokenUsage
from engine.llm.config import ModelConfig
from engine.llm.formats.tuple_extraction import DELIMITER, END_MARKER
from engine.llm.remote_model import LiteLLMModel, LLMConfig

MODEL = ModelConfig("openai/obedient")
MAX_TOLD, MAX_FACT = 4000, 500  # characters of what an answer and a fact tell of it
TELLING = "This is all that I was shown:"  # a reply that begins with its prompt would be taken for an echo
PIECE = 7  # characters of a piece of a stream
MAX_NAME = 150  # characters of a name
FIRST_WORDS = 25  # characters by which a call is known
CALLS = ("condense", "extract_system", "summarize", "summarize_several", "picture")  # all others are answers
DATA = re.compile(r"<(\w+)-(\w+)>\n(.*)\n</\1-\2>", re.DOTALL)
NUMBER = re.compile(r'^{"number": (\d+)', re.MULTILINE)


class ObedientProvider:
    """Implements `Provider`. `attack` makes the lines of an attack from what a call was shown.

    `calls` counts the calls by template.
    """

    def __init__(self, attack: Callable[[str], Iterable[str]]) -> None:
        self.attack = attack
        self.calls: Counter[str] = Counter()

    async def preload(self) -> None:
        """Nothing to load."""

    async def close(self) -> None:
        """Nothing to release."""

    async def chat(self, parameters: CallParameters) -> ChatReply:
        return ChatReply(self._reply(parameters), "stop", TokenUsage(1, 1))

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        text = self._reply(parameters)
        for at in range(0, len(text), PIECE):
            yield StreamDelta(text[at : at + PIECE])
        yield StreamDelta(finish="stop", spent=TokenUsage(1, 1))

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        raise NotImplementedError

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        raise NotImplementedError

    def _reply(self, parameters: CallParameters) -> str:
        texts = [_text_of(message["content"]) for message in parameters["messages"]]
        call = next((call for call in CALLS if texts[0].startswith(_first_words(call))), "answer")
        self.calls[call] += 1
        said = texts[1:] if call == "answer" else []
        shown = "\n".join([*(found[3] for text in texts for found in DATA.finditer(text)), *said])
        numbers = [int(number) for number in NUMBER.findall(shown)]
        return self._write(call, shown, list(self.attack(shown)), numbers)

    def _write(self, call: str, shown: str, attack: Sequence[str], numbers: Sequence[int]) -> str:
        told = shown[:MAX_TOLD]
        match call:
            case "condense":
                return _condense(told, attack)
            case "extract_system":
                return _extract(shown[:MAX_FACT], attack, numbers)
            case "summarize_several":
                line = _in_one_line(told, *attack)
                return "\n".join([*(DELIMITER.join(("summary", str(number), line)) for number in numbers), END_MARKER])
            case _:
                return "\n".join((TELLING, told, *attack))


def _condense(told: str, attack: Sequence[str]) -> str:
    """A question about the secret, whoever asked and whatever for, with filters that nobody set."""
    filters = {"channels": ["cellar"], "authors": ["ada"], "dates": {"words": told[:20], "since": "2000-01-01"}}
    words = [*attack, "password of the safe", "cellar"]
    found = {"question": f"What is the password of the safe? {told}", "low_level_keywords": words, "filters": filters}
    return json.dumps({**found, "high_level_keywords": words, "for_you": True})


def _extract(told: str, attack: Sequence[str], numbers: Sequence[int]) -> str:
    """Under each excerpt, all that was shown, as facts about names that are attacks themselves."""
    line = _in_one_line(told, attack[0])
    names = [text.strip()[:MAX_NAME] for text in attack]
    rows: list[tuple[str, ...]] = [("entity", "Harbour Safe", "Artifact", line)]
    rows += [("entity", name, f"Type {name}", name) for name in names]
    rows += [("relation", "Harbour Safe", name, name, line) for name in names]
    block = "\n".join(DELIMITER.join(fields) for fields in rows)
    if not numbers:
        return f"{block}\n{END_MARKER}"
    return "\n".join([*(f"excerpt{DELIMITER}{number}\n{block}" for number in numbers), END_MARKER])


def _in_one_line(*texts: str) -> str:
    return " ".join(" ".join(texts).split())


def _text_of(content: object) -> str:
    """The text of a message, of several parts or of one."""
    if isinstance(content, str):
        return content
    assert isinstance(content, list)
    return "\n".join(part.get("text", "") for part in content)


@cache
def _first_words(template: str) -> str:
    return (files("engine.llm") / "templates" / f"{template}.md").read_text("utf-8")[:FIRST_WORDS]


def build_obedient_model(client: ModelClient) -> LiteLLMModel:
    """The language model of the product on an obedient provider."""
    return LiteLLMModel(LLMConfig(MODEL, gleaning_threshold=0), client, lambda text: len(text.split()))
