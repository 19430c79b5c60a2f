"""Omit from requests what a provider refused, and remember it for each model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

import structlog

from engine.errors import BadModelSettings, RequestRejected
from engine.llm.wire.rejections import ANY_PARAMETER, STREAM, SYSTEM_ROLE
from engine.scheduling.feature_breaker import FeatureBreaker

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Collection, Iterable

    from engine.clock import Clock
    from engine.llm.client.protocol import CallParameters
    from engine.llm.config import ModelConfig

T = TypeVar("T")

log = structlog.get_logger(__name__)

RETRY_SECONDS = 3600.0, 86_400.0  # until a refused parameter is sent again; at most
# Without these there is no request.
NEEDED = frozenset(
    {"model", "messages", "input", "query", "documents", "api_base", "api_key", "timeout", "max_retries"}
)
PLACES = ("api_", "aws_", "vertex_", "azure_")  # of the endpoint and of its credentials
REPLACED = {"max_tokens": "max_completion_tokens"}  # what is sent in place of a refused parameter, once


class RefusedParameters:
    """The parameters that providers refused, by model and address."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._refused: dict[tuple[str, str], dict[str, FeatureBreaker]] = {}

    def list_refused(self, model: ModelConfig) -> list[str]:
        """The parameters that are not sent to a model."""
        known = self._refused.get((model.model, model.api_base), {})
        return sorted(name for name, breaker in known.items() if not breaker.is_closed)

    async def call(
        self, model: ModelConfig, parameters: CallParameters, send: Callable[[CallParameters], Awaitable[T]]
    ) -> T:
        """Send a request, and repeat it without what the provider refuses. Raises ModelError."""
        left_out, lasting = self.list_refused(model), list[str]()
        kept = frozenset(model.extra) if "messages" in parameters else frozenset[str]()  # set by the owner
        while True:
            sent = leave_out(parameters, left_out, kept)
            try:
                result = await send(sent)
            except RequestRejected as error:
                name = _find_removable(error, sent, kept)
                if not name or name in left_out:
                    raise _name_kept(error, model, kept & sent.keys()) from error
                left_out.append(name)
                lasting += [name] * error.lasting
            else:
                self._remember(model, lasting, sent.keys(), parameters.keys() - sent.keys())
                return result

    def _remember(
        self, model: ModelConfig, refused: Iterable[str], accepted: Iterable[str], left_out: Iterable[str]
    ) -> None:
        """Remember what a successful request had to leave out, and what was accepted again."""
        known = self._refused.setdefault((model.model, model.api_base), {})
        for name in refused:
            names = sorted(left_out) if name == ANY_PARAMETER else [name]
            log.warning("llm.parameter_refused", model=model.model, parameter=", ".join(names))
            known.setdefault(name, FeatureBreaker(self._clock, 1, *RETRY_SECONDS)).record_refusal()
        for name in known.keys() & set(accepted):
            known[name].record_success()


def leave_out(parameters: CallParameters, names: Iterable[str], kept: Collection[str] = frozenset()) -> CallParameters:
    """The parameters without these; a replaced one is sent under its other name, a system role as part of the user's.

    `ANY_PARAMETER` leaves only what every request needs, and what is to be `kept`.
    """
    sent = dict(parameters)
    for name in names:
        if name == ANY_PARAMETER:
            sent = {key: value for key, value in sent.items() if _is_needed(key) or key in kept}
        elif name == SYSTEM_ROLE:
            sent["messages"] = fold_system_messages(sent.get("messages", ()))
        elif name in sent:
            value = sent.pop(name)
            sent |= {REPLACED[name]: value} if name in REPLACED else {}
    if STREAM not in sent:
        sent.pop("stream_options", None)
    return sent


def fold_system_messages(messages: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """The messages with those of the system as the begin of the next one of the user; roles then alternate."""
    folded = list[dict[str, Any]]()
    for message in messages:
        role = "user" if message["role"] == "system" else message["role"]
        if folded and folded[-1]["role"] == role:
            folded[-1] = {"role": role, "content": _join(folded[-1]["content"], message["content"])}
        else:
            folded.append({**message, "role": role})
    return folded


def _is_needed(name: str) -> bool:
    """Whether a parameter is no choice: what is asked, and where."""
    return name in NEEDED or name == STREAM or name.startswith(PLACES)


def _join(first: str | list[Any], second: str | list[Any]) -> str | list[Any]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [*_as_parts(first), *_as_parts(second)]


def _as_parts(content: str | list[Any]) -> list[Any]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _name_kept(error: RequestRejected, model: ModelConfig, kept: Collection[str]) -> RequestRejected:
    """The error of a request, with the parameters of the owner if it may be about one of them."""
    if error.parameter != ANY_PARAMETER or not kept:
        return error
    names = ", ".join(sorted(kept))
    return BadModelSettings(
        f"The provider of the model {model.model} does not accept one of its parameters: {str(error).rstrip('.')}.",
        hint=f"Remove what it does not know from the further parameters of this model: {names}.",
        retry_after=error.retry_after,
    )


def _find_removable(error: RequestRejected, sent: CallParameters, kept: Collection[str]) -> str:
    """What of a request can be left out after an error; "" if nothing can."""
    name = error.parameter
    if name == SYSTEM_ROLE:
        messages = list(sent.get("messages", ()))
        return name if fold_system_messages(messages) != messages else ""
    if name == ANY_PARAMETER:
        return name if not all(_is_needed(parameter) or parameter in kept for parameter in sent) else ""
    other = REPLACED.get(name, "")
    return next((candidate for candidate in (name, other) if candidate and candidate in sent), "")
