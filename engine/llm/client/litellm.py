"""The one place that calls litellm: lazily imported, quiet, with our own errors and plain values."""

from __future__ import annotations

import asyncio
import base64
import importlib
import os
import warnings
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import numpy as np

from engine.errors import LanguageError, Unavailable
from engine.llm.client.errors import failure
from engine.llm.client.protocol import UNFINISHED, Piece, Reply, Scores, Spent, Vectors

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    from engine.llm.client.protocol import Parameters

# What pydantic says about litellm's own types, the reply's text included; where warnings are errors, calls would fail.
_PYDANTIC_COMPLAINS = (
    "Item .* on TypedDict class",
    "Accessing the 'model_(computed_)?fields' attribute",
    "Pydantic serializer warnings",
)

# Where litellm puts what a model thinks, in the part of a stream.
_THOUGHTS = ("reasoning_content", "thinking_blocks", "reasoning_items")


class Direct:
    """Implements `Provider` with litellm in this process."""

    def __init__(self) -> None:
        self._module: Any = None

    async def ready(self) -> None:
        """Import litellm (seconds, off the loop)."""
        if self._module is None:
            self._module = await asyncio.to_thread(load)

    async def close(self) -> None:
        """Close the connections that litellm keeps open."""
        if self._module is not None:
            await self._module.close_litellm_async_clients()
            self._module.in_memory_llm_clients_cache.flush_cache()

    async def chat(self, parameters: Parameters) -> Reply:
        litellm = await self._litellm()
        with _translated(parameters):
            reply = await litellm.acompletion(**parameters)
            choice = reply.choices[0]
            spent = _spent(reply, _hidden_cost(reply))
            return Reply(choice.message.content or "", choice.finish_reason or "", spent)

    async def stream(self, parameters: Parameters) -> AsyncGenerator[Piece]:
        litellm = await self._litellm()
        with _translated(parameters):
            chunks = await litellm.acompletion(**parameters, stream=True, stream_options={"include_usage": True})
            try:
                async for chunk in chunks:
                    yield _piece(chunk, litellm, parameters)
                if not _finished(chunks):
                    yield Piece(finish=UNFINISHED)
            finally:
                if hasattr(chunks, "aclose"):  # also when nobody wants the rest
                    await chunks.aclose()

    async def embed(self, parameters: Parameters) -> Vectors:
        litellm = await self._litellm()
        with _translated(parameters):
            reply = await litellm.aembedding(**parameters)
            rows = _rows(reply.data, len(parameters["input"]), parameters["model"])
            return Vectors(rows, _spent(reply, _hidden_cost(reply)))

    async def rerank(self, parameters: Parameters) -> Scores:
        litellm = await self._litellm()
        with _translated(parameters):
            reply = await litellm.arerank(**parameters)
            tokens = int(((reply.meta or {}).get("tokens") or {}).get("input_tokens") or 0)
            return Scores([dict(row) for row in reply.results or ()], Spent(tokens, cost=_hidden_cost(reply)))

    async def _litellm(self) -> Any:
        """litellm, told that this task's calls need no logging: nobody listens, and it costs a quarter of the time."""
        await self.ready()
        with suppress(ImportError, AttributeError):  # a part of litellm that may go; then calls are only slower
            importlib.import_module("litellm._internal_context").is_internal_call.set(True)
        return self._module


def load() -> Any:
    """Import litellm, told beforehand to ask no network for prices, and quiet."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # otherwise it reads any .env that lies around
    for message in _PYDANTIC_COMPLAINS:
        warnings.filterwarnings("ignore", message=message)
    litellm: Any = importlib.import_module("litellm")
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


@contextmanager
def _translated(parameters: Parameters) -> Iterator[None]:
    try:
        yield
    except LanguageError:
        raise
    except Exception as error:
        key, base = parameters.get("api_key", ""), parameters.get("api_base", "")
        raise failure(error, parameters["model"], key, base) from error


def _finished(chunks: Any) -> bool:
    """Whether the provider told why its stream ended; litellm puts "stop" where it did not."""
    names = ("received_finish_reason", "intermittent_finish_reason")
    return not hasattr(chunks, names[0]) or any(getattr(chunks, name, None) for name in names)


def _piece(chunk: Any, litellm: Any, parameters: Parameters) -> Piece:
    choice = next(iter(chunk.choices), None)
    spent = _spent(chunk, _cost(litellm, parameters["model"], chunk)) if getattr(chunk, "usage", None) else None
    if choice is None:
        return Piece(spent=spent)
    thought = any(getattr(choice.delta, name, None) for name in _THOUGHTS)
    return Piece(choice.delta.content or "", choice.finish_reason or "", spent, thought)


def _spent(reply: Any, cost: float) -> Spent:
    told = getattr(reply, "usage", None)
    return Spent(getattr(told, "prompt_tokens", 0) or 0, getattr(told, "completion_tokens", 0) or 0, cost)


def _hidden_cost(reply: Any) -> float:
    return float(reply._hidden_params.get("response_cost") or 0.0)  # noqa: SLF001  - litellm documents it there


def _cost(litellm: Any, model: str, chunk: Any) -> float:
    """The price of a stream; nothing where the price is not known."""
    try:
        return float(sum(litellm.cost_per_token(model, chunk.usage.prompt_tokens, chunk.usage.completion_tokens)))
    except Exception:  # noqa: BLE001  - litellm raises plain exceptions for models without a price
        return 0.0


def _rows(data: Sequence[Any], count: int, model: str) -> np.ndarray:
    """float32 of shape (count, dim), by the rows' own index."""
    given = {row["index"]: _vector(row["embedding"]) for row in data}
    if set(given) != set(range(count)) or len({len(vector) for vector in given.values()}) != 1:
        raise Unavailable(f"{model} gave {len(given)} vectors for {count} texts.")
    vectors = np.stack([given[index] for index in range(count)])
    if not np.isfinite(vectors).all():
        raise Unavailable(f"{model} gave a vector that is not finite.")
    return vectors


def _vector(given: Any) -> np.ndarray:
    """A vector as numbers, or as the bytes of them in base64."""
    if isinstance(given, str):
        return np.frombuffer(base64.b64decode(given), dtype="<f4")
    return np.asarray(given, dtype=np.float32)
