"""Call litellm: imported lazily, silenced, in little memory, with the engine's own errors and plain values.

It loads a tokenizer of 40 MiB at its first call, and keeps the parsed form of another; both serve to count tokens where
a provider reports none. Here, the first is loaded once it is used; the second is also kept as text.
"""

from __future__ import annotations

import asyncio
import base64
import importlib
import os
import sys
import warnings
from contextlib import contextmanager, suppress
from types import ModuleType
from typing import TYPE_CHECKING, Any

from engine.errors import InvalidReply, ModelError, ModelUnavailable
from engine.llm.client.errors import map_error, name_parameter
from engine.llm.client.protocol import (
    UNFINISHED,
    ChatReply,
    EmbeddingResult,
    ModelTraits,
    RerankResult,
    StreamDelta,
    TokenUsage,
)
from engine.llm.client.reply_limits import MAX_RECEIVED_CHARACTERS, MAX_SCORES_PER_TEXT
from engine.llm.traits.description import describe_model
from engine.llm.traits.reasoning import choose_effort
from engine.llm.traits.refused_parameters import NEEDED
from engine.llm.wire.reply_parts import (
    RawStream,
    accept_content_lists,
    find_refusal,
    flatten_content,
    keep_unprocessable_errors,
    refusal_error,
)
from engine.llm.wire.unsent_calls import close_unsent_calls
from engine.memory import free_import_garbage, pause_garbage_collection

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Iterator, Sequence

    import numpy as np

    from engine.clock import Clock
    from engine.llm.client.protocol import CallParameters


# Warnings of pydantic about litellm's own types quote the reply; where warnings are errors, calls would fail.
_PYDANTIC_WARNINGS = (
    "Item .* on TypedDict class",
    "Accessing the 'model_(computed_)?fields' attribute",
    "Pydantic serializer warnings",
)

# Fields of a stream part in which litellm returns thinking.
_REASONING_FIELDS = ("reasoning_content", "thinking_blocks", "reasoning_items")
ENCODING_MODULE = "litellm.litellm_core_utils.default_encoding"
ENCODING_NAME = "cl100k_base"


class LiteLLMProvider:
    """Implements `Provider` with litellm in this process."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._module: Any = None

    async def preload(self) -> None:
        """Import litellm (seconds, off the event loop)."""
        if self._module is None:
            self._module = await asyncio.to_thread(load_litellm)

    async def close(self) -> None:
        """Close the connections that litellm keeps open."""
        if self._module is not None:
            await self._module.close_litellm_async_clients()
            self._module.in_memory_llm_clients_cache.flush_cache()

    async def chat(self, parameters: CallParameters) -> ChatReply:
        litellm = await self._load_module()
        with self._mapped_errors(parameters):
            reply = await litellm.acompletion(**choose_reasoning(litellm, parameters))
            if not reply.choices:
                raise ModelUnavailable(f"{parameters['model']} sent a reply without a text.")
            choice = reply.choices[0]
            spent = _token_usage(reply, find_cost(litellm, reply, parameters["model"]))
            text = flatten_content(choice.message.content)[0][: MAX_RECEIVED_CHARACTERS + 1]
            if not text.strip() and (refusal := find_refusal(choice.message)):
                raise refusal_error(parameters["model"], refusal)
            return ChatReply(text, choice.finish_reason or "", spent)

    async def stream(self, parameters: CallParameters) -> AsyncGenerator[StreamDelta]:
        litellm = await self._load_module()
        with self._mapped_errors(parameters):
            streamed = {} if "stream" in parameters else {"stream": True, "stream_options": {"include_usage": True}}
            chunks = await litellm.acompletion(**choose_reasoning(litellm, {**parameters, **streamed}))
            raw = _watch_stream(chunks)
            has_text = False
            try:
                async for chunk in chunks:
                    delta = _build_delta(chunk, litellm, parameters)
                    has_text = has_text or bool(delta.text.strip())
                    yield delta
                if raw:
                    raw.check_end(parameters["model"], has_text=has_text)
                if not _has_finish_reason(chunks):
                    yield StreamDelta(finish=UNFINISHED)
            except ModelError:
                raise
            except Exception as error:
                raise (raw.failure if raw and raw.failure else error) from error
            finally:
                if hasattr(chunks, "aclose"):  # also if the caller stops early
                    await chunks.aclose()

    async def embed(self, parameters: CallParameters) -> EmbeddingResult:
        litellm = await self._load_module()
        with self._mapped_errors(parameters):
            reply = await litellm.aembedding(**parameters)
            rows = _embedding_rows(reply.data, len(parameters["input"]), parameters["model"])
            return EmbeddingResult(rows, _token_usage(reply, find_cost(litellm, reply, parameters["model"])))

    async def rerank(self, parameters: CallParameters) -> RerankResult:
        litellm = await self._load_module()
        with self._mapped_errors(parameters):
            reply = await litellm.arerank(**parameters)
            tokens = int(((reply.meta or {}).get("tokens") or {}).get("input_tokens") or 0)
            rows = (reply.results or ())[: MAX_SCORES_PER_TEXT * len(parameters["documents"])]
            cost = find_cost(litellm, reply, parameters["model"]) or 0.0
            return RerankResult([dict(row) for row in rows], TokenUsage(tokens, cost=cost))

    async def describe(self, parameters: CallParameters) -> ModelTraits:
        litellm = await self._load_module()
        return await describe_model(find_traits(litellm, parameters["model"]), parameters)

    @contextmanager
    def _mapped_errors(self, parameters: CallParameters) -> Iterator[None]:
        try:
            yield
        except ModelError:
            raise
        except Exception as error:
            key, base = parameters.get("api_key", ""), parameters.get("api_base", "")
            mapped = map_error(error, parameters["model"], self._clock.time(), key, base)
            raise name_parameter(mapped, error, parameters.keys() - NEEDED) from error

    async def _load_module(self) -> Any:
        """The litellm module, with its logging disabled for this task: it costs a quarter of the time."""
        await self.preload()
        with suppress(ImportError, AttributeError):  # optional part of litellm; without it calls are only slower
            importlib.import_module("litellm._internal_context").is_internal_call.set(True)
        return self._module


def load_litellm() -> Any:
    """Import litellm without network look-ups of prices and without log output."""
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    os.environ.setdefault("LITELLM_LOG", "ERROR")
    os.environ["LITELLM_MODE"] = "PRODUCTION"  # otherwise it reads any .env in the current folder
    for message in _PYDANTIC_WARNINGS:
        warnings.filterwarnings("ignore", message=message)
    defer_encoding()
    is_imported = "litellm" in sys.modules
    with pause_garbage_collection():
        litellm: Any = importlib.import_module("litellm")
    release_parsed_tokenizer()
    if not is_imported:
        free_import_garbage()
    accept_content_lists()
    keep_unprocessable_errors()
    close_unsent_calls()
    litellm.telemetry = False
    litellm.suppress_debug_info = True
    litellm.drop_params = True
    return litellm


def _has_finish_reason(chunks: Any) -> bool:
    """Whether the provider gave a finish reason; litellm fills in "stop" if there is none."""
    names = ("received_finish_reason", "intermittent_finish_reason")
    return not hasattr(chunks, names[0]) or any(getattr(chunks, name, None) for name in names)


def _build_delta(chunk: Any, litellm: Any, parameters: CallParameters) -> StreamDelta:
    choice = next(iter(chunk.choices), None)
    has_usage = getattr(chunk, "usage", None)
    spent = _token_usage(chunk, find_cost(litellm, chunk, parameters["model"])) if has_usage else None
    if choice is None:
        return StreamDelta(spent=spent)
    thought = any(getattr(choice.delta, name, None) for name in _REASONING_FIELDS)
    text = flatten_content(choice.delta.content)[0][: MAX_RECEIVED_CHARACTERS + 1]
    return StreamDelta(text, choice.finish_reason or "", spent, thought)


def _watch_stream(chunks: Any) -> RawStream | None:
    """Let the parts of a stream be read before litellm drops some of them; None for a stream of another kind."""
    parts = getattr(chunks, "completion_stream", None)
    if not hasattr(parts, "__anext__"):
        return None
    raw = RawStream(parts)
    chunks.completion_stream = raw
    return raw


def choose_reasoning(litellm: Any, parameters: CallParameters) -> CallParameters:
    """The parameters with the effort of reasoning as the model names it, or without one."""
    if "reasoning_effort" not in parameters:
        return parameters
    model = parameters["model"]
    traits = find_traits(litellm, model)
    effort = choose_effort(str(parameters["reasoning_effort"]), model.partition("/")[0], model, traits)
    kept = {name: value for name, value in parameters.items() if name != "reasoning_effort"}
    return {**kept, "reasoning_effort": effort} if effort else kept


def find_traits(litellm: Any, model: str) -> dict[str, Any]:
    """What litellm knows of a model: its limits, prices and features; empty for a model that it does not know."""
    names = (model, model.partition("/")[2])
    return next((dict(litellm.model_cost[name]) for name in names if name in litellm.model_cost), {})


def _token_usage(reply: Any, cost: float | None) -> TokenUsage:
    usage = getattr(reply, "usage", None)
    tokens = getattr(usage, "prompt_tokens", 0) or 0, getattr(usage, "completion_tokens", 0) or 0
    return TokenUsage(*tokens, cost or 0.0)


def _embedding_rows(data: Sequence[Any], count: int, model: str) -> np.ndarray:
    """The vectors as float32 of shape (count, dim), ordered by the rows' own index."""
    import numpy as np  # noqa: PLC0415 - 16 MiB of memory, which a process without embeddings does without

    vectors_by_index = {row["index"]: _decode_vector(row["embedding"]) for row in data}
    if set(vectors_by_index) != set(range(count)) or len({len(vector) for vector in vectors_by_index.values()}) != 1:
        raise InvalidReply(f"{model} returned {len(vectors_by_index)} vectors for {count} texts.")
    vectors = np.stack([vectors_by_index[index] for index in range(count)])
    if not np.isfinite(vectors).all():
        raise InvalidReply(f"{model} returned a vector that is not finite.")
    return vectors


def _decode_vector(vectors_by_index: Any) -> np.ndarray:
    """A vector given as numbers or as base64 of its bytes."""
    import numpy as np  # noqa: PLC0415 - see above

    if isinstance(vectors_by_index, str):
        return np.frombuffer(base64.b64decode(vectors_by_index), dtype="<f4")
    return np.asarray(vectors_by_index, dtype=np.float32)


def find_cost(litellm: Any, reply: Any, model: str) -> float | None:
    """The price of a reply or of the last part of a stream; None if it is not known."""
    usage = getattr(reply, "usage", None)
    own = getattr(usage, "cost", None)  # OpenRouter and others bill by it
    if isinstance(own, int | float) and not isinstance(own, bool):
        return float(own)
    hidden = getattr(reply, "_hidden_params", None) or {}
    if (known := hidden.get("response_cost")) is not None:
        return float(known)
    return _cost_by_tokens(litellm, usage, model)


def _cost_by_tokens(litellm: Any, usage: Any, model: str) -> float | None:
    """The price by litellm's own table, which knows the prices of cached tokens."""
    if usage is None:
        return None
    try:
        prompt, completion = usage.prompt_tokens or 0, getattr(usage, "completion_tokens", 0) or 0
        return float(sum(litellm.cost_per_token(model, prompt, completion, usage_object=usage)))
    except Exception:  # noqa: BLE001  - litellm raises plain exceptions for models without a price
        return None


class LazyEncoding:
    """litellm's default encoding, loaded when anything but its name is used."""

    name = ENCODING_NAME

    def __getattr__(self, attribute: str) -> Any:
        return getattr(_load_module().encoding, attribute)


class LazyEncodingModule(ModuleType):
    """Takes the place of the module that loads the encoding at its import."""

    def __init__(self) -> None:
        super().__init__(ENCODING_MODULE)
        self.encoding = LazyEncoding()

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__"):  # what the import system asks of any module
            raise AttributeError(attribute)
        return getattr(_load_module(), attribute)


def defer_encoding() -> None:
    """Let litellm load its default encoding when it counts tokens. Call it before litellm is imported."""
    sys.modules.setdefault(ENCODING_MODULE, LazyEncodingModule())


def release_parsed_tokenizer() -> None:
    """Free the parsed file of the tokenizer that litellm keeps as text. Call it after litellm is imported."""
    utils: Any = sys.modules.get("litellm.utils")
    if utils is not None and isinstance(getattr(utils, "claude_json_str", None), str):
        utils.json_data = None


def _load_module() -> Any:
    if isinstance(sys.modules.get(ENCODING_MODULE), LazyEncodingModule):
        del sys.modules[ENCODING_MODULE]
    return importlib.import_module(ENCODING_MODULE)
