"""Check a model by tiny calls before the first question: what works, what does not, and which setting to change."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field, replace
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from engine.errors import (
    BadModelSettings,
    EngineError,
    InvalidApiKey,
    ModelNotFound,
    ModelPaused,
    ModelTimeout,
    ModelUnreachable,
    OutOfCredit,
    RateLimited,
)
from engine.llm.client.client import ChatRequest
from engine.llm.wire.rejections import ANY_PARAMETER, RESPONSE_FORMAT, STREAM, SYSTEM_ROLE
from engine.models import LLMMessage
from engine.options import MIN_CONTEXT_TOKENS
from engine.usage import UsageMeter

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from engine.llm.base import Embedder, Reranker
    from engine.llm.client.client import ModelClient
    from engine.llm.config import ModelConfig

GREETING = (LLMMessage("system", "Reply with one word."), LLMMessage("user", "Are you ready?"))
JSON_REQUEST = (LLMMessage("system", "Reply with a JSON object."), LLMMessage("user", 'Reply with {"ready": true}.'))
PROBED_TOKENS = 4_096  # of the prompt by which an unknown context window is probed
UNNAMED = "a parameter that it does not name, so all but the further parameters that are set"
ENDPOINT = frozenset({"API_KEY", "API_BASE"})
SHARING = re.compile(r"_(EXTRACTION|QUERY)$")  # prefixes of roles without an endpoint of their own
PROBE_WORD = "tea "  # a token of most tokenizers
PROBED_SHARE = 0.7  # of a prompt that was counted: the rest is how tokenizers differ


@dataclass(frozen=True, slots=True)
class Problem:
    """A problem in a sentence, and what to change. A "warning" keeps nothing from working.

    `is_unreachable`: the model could not be asked, so nothing is known of its settings.
    """

    text: str
    hint: str = ""
    is_warning: bool = False
    is_unreachable: bool = False


@dataclass(frozen=True, slots=True)
class ModelCheck:
    """What the check of a model found. `role`: what it is used for; `facts`: what is remembered of it."""

    role: str
    model: str
    facts: dict[str, Any] = field(default_factory=dict)
    problems: tuple[Problem, ...] = ()

    @property
    def works(self) -> bool:
        """Whether nothing was found that keeps the model from working."""
        return all(problem.is_warning for problem in self.problems)


@dataclass(frozen=True, slots=True)
class CheckedRole:
    """A role to check: its name, its model, the prefix of its settings, and the window that is set, 0 if none is.

    `inherits`: whether its model is that of the answers, because it has none of its own.
    """

    name: str
    model: ModelConfig
    prefix: str
    window: int = 0
    inherits: bool = False

    @property
    def fingerprint(self) -> str:
        """What tells whether a check of the role holds for these settings; the key cannot be read from it."""
        text = "\n".join((self.name, self.prefix, self.model.name, self.model.api_key, str(self.window)))
        return sha256(text.encode()).hexdigest()[:32]

    def setting(self, name: str) -> str:
        """The variable of a setting of the role; extraction and queries share the endpoint of the answers."""
        is_shared = name in ENDPOINT or (self.inherits and name == "MODEL")
        prefix = SHARING.sub("_LLM", self.prefix) if is_shared else self.prefix
        return f"{prefix}_{name}"


class WindowProbe:
    """Probes unknown context windows by one prompt for each model, whatever its roles."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()
        self._found: dict[tuple[str, str], int] = {}

    async def measure(self, client: ModelClient, model: ModelConfig, meter: UsageMeter) -> int:
        """The tokens of the prompt if the provider counted it as it was sent, else 0."""
        key = model.model, model.api_base
        async with self._lock:
            if key not in self._found:
                self._found[key] = await _probe_window(client, model, meter)
        return self._found[key]


async def check_chat(client: ModelClient, role: CheckedRole, probe: WindowProbe | None = None) -> ModelCheck:
    """Check a chat model by a streamed reply and one of JSON; `probe` measures a window that is not known."""
    model, meter = role.model, UsageMeter()
    try:
        async for _ in client.stream(ChatRequest(model, "answer", GREETING), meter):
            pass
        is_json = await _sends_json(client, model, meter)
        traits = await client.describe(model)
        probed = 0 if traits.window or probe is None else await probe.measure(client, model, meter)
    except EngineError as error:
        return ModelCheck(role.name, model.model, {"error": str(error)}, (describe_failure(error, role),))
    sent = {*model.chat_parameters(), SYSTEM_ROLE, STREAM, RESPONSE_FORMAT, ANY_PARAMETER}
    refused = [name for name in client.list_refused_parameters(model) if name in sent]
    facts = {
        "streaming": STREAM not in refused,
        "system_role": SYSTEM_ROLE not in refused,
        "json_mode": is_json and not {RESPONSE_FORMAT, ANY_PARAMETER} & set(refused),
        "refused": refused,
        "window": traits.window or probed,
        "window_origin": traits.window_origin or ("probed" if probed else ""),
        "output_limit": traits.output_limit,
        "reasons": traits.reasons,
        "reasoning_effort": traits.effort if model.reasoning_effort == "lowest" else model.reasoning_effort,
        "price_known": traits.price_known or any(item.cost for item in meter.items),
        "input_price": traits.input_price,
        "output_price": traits.output_price,
    }
    problems = (*_list_refused(refused, role), *_list_window_problems(facts, role), *_list_price_problems(facts, role))
    return ModelCheck(role.name, model.model, facts, (*problems, *_list_count_problems(client, role)))


async def check_embedder(
    open_embedder: Callable[[], Awaitable[Embedder]], role: CheckedRole, remembered: int = 0
) -> ModelCheck:
    """Check an embedding model by a text; `remembered`: its dimensions at the last check, 0 if not known."""
    try:
        embedder = await open_embedder()
        vectors = await embedder.embed(["Are you ready?"], UsageMeter())
    except EngineError as error:
        return _report(error, role)
    found, problems = int(vectors.shape[1]), tuple[Problem, ...]()
    if remembered not in {0, found}:
        text = f"The model now returns {found:,} dimensions, not {remembered:,} as before."
        problems = (Problem(text, "Start the program again: all vectors are then made anew.", is_warning=True),)
    return ModelCheck(role.name, role.model.model, {"dimension": found, "identity": embedder.name}, problems)


async def check_reranker(reranker: Reranker, role: CheckedRole) -> ModelCheck:
    """Check a reranking model by a question and two texts."""
    try:
        await reranker.rerank("Are you ready?", ["Ready.", "Not yet."], UsageMeter())
    except EngineError as error:
        return _report(error, role)
    return ModelCheck(role.name, role.model.model, {})


def _report(error: EngineError, role: CheckedRole) -> ModelCheck:
    return ModelCheck(role.name, role.model.model, {"error": str(error)}, (describe_failure(error, role),))


def describe_failure(error: EngineError, role: CheckedRole) -> Problem:
    """The error of a call with the setting to change."""
    match error:
        case InvalidApiKey():
            hint = f"Set {role.setting('API_KEY')}, or the variable of the provider's own key."
        case ModelNotFound():
            hint = f"Correct {role.setting('MODEL')}."
        case ModelUnreachable():
            hint = f"Correct {role.setting('API_BASE')}, or start the server."
        case OutOfCredit():
            hint = "Check your plan and billing at the provider."
        case RateLimited() | ModelPaused():  # busy, not broken
            return Problem(f"{error} So it was not checked.", error.hint, is_warning=True)
        case BadModelSettings():
            hint = f"Change {_setting_of(error.parameter, role)}." if error.parameter else error.hint
        case ModelTimeout():
            hint = "Raise THREADLORE_LLM_TIMEOUT_SECONDS, or choose a faster model."
        case _:
            hint = error.hint
    return Problem(str(error), hint, is_unreachable=isinstance(error, ModelUnreachable | ModelTimeout))


async def _sends_json(client: ModelClient, model: ModelConfig, meter: UsageMeter) -> bool:
    reply = await client.complete(ChatRequest(model, "condense", JSON_REQUEST, json=True), meter)
    try:
        return isinstance(json.loads(reply), dict)
    except ValueError:
        return False


async def _probe_window(client: ModelClient, model: ModelConfig, meter: UsageMeter) -> int:
    short = replace(model, max_output_tokens=model.max_output_tokens or 16)
    prompt = (LLMMessage("user", f"{PROBE_WORD * PROBED_TOKENS}\nReply with one word."),)
    try:
        await client.complete(ChatRequest(short, "condense", prompt), meter)
    except EngineError:  # the model has replied to less: only its window stays unknown
        return 0
    return PROBED_TOKENS if meter.items[-1].input_tokens >= PROBED_SHARE * PROBED_TOKENS else 0


def _list_refused(refused: list[str], role: CheckedRole) -> list[Problem]:
    return [
        Problem(f"The provider refuses {_name_parameter(name)}; it is left out.", _refused_hint(name, role), True)
        for name in refused
    ]


def _refused_hint(name: str, role: CheckedRole) -> str:
    if name in {SYSTEM_ROLE, STREAM, RESPONSE_FORMAT, ANY_PARAMETER}:
        return "Nothing needs to be changed."
    return f"Change {_setting_of(name, role)} to avoid the second call."


def _name_parameter(name: str) -> str:
    names = {SYSTEM_ROLE: "the system role", STREAM: "streaming", RESPONSE_FORMAT: "JSON mode"}
    return names.get(name, UNNAMED if name == ANY_PARAMETER else f"the parameter {name}")


def _setting_of(name: str, role: CheckedRole) -> str:
    """The setting that a parameter comes from."""
    settings = {
        "temperature": role.setting("TEMPERATURE"),
        "reasoning_effort": role.setting("REASONING_EFFORT"),
        "max_tokens": "THREADLORE_LLM_MAX_OUTPUT_TOKENS",
        "max_completion_tokens": "THREADLORE_LLM_MAX_OUTPUT_TOKENS",
        "num_ctx": "THREADLORE_OLLAMA_NUM_CTX",
    }
    return settings.get(name, role.setting("EXTRA_PARAMETERS"))


def _list_window_problems(facts: dict[str, Any], role: CheckedRole) -> list[Problem]:
    window, name = facts["window"], role.setting("CONTEXT_TOKENS")
    if 0 < window < MIN_CONTEXT_TOKENS and facts["window_origin"] != "probed":
        text = f"The model takes {window:,} tokens, but prompts need at least {MIN_CONTEXT_TOKENS:,}."
        return [Problem(text, "Choose another model, or let its server use a larger window.")]
    if not window and not role.window:
        return [Problem("The context window is unknown, so long prompts may fail.", f"Set {name}.", is_warning=True)]
    if facts["window_origin"] != "probed" and window and role.window > window:
        text = f"{name} is {role.window:,}, but the model takes {window:,} tokens."
        return [Problem(text, f"Set {name} to {window} or less.")]
    return _list_reply_problems(role.window or window, role)


def _list_reply_problems(window: int, role: CheckedRole) -> list[Problem]:
    longest = role.model.max_output_tokens or 0
    if not (window and longest) or longest + MIN_CONTEXT_TOKENS <= window:
        return []
    text = f"Replies may have {longest:,} tokens of a window of {window:,}, so long ones may be cut off."
    return [Problem(text, "Lower THREADLORE_LLM_MAX_OUTPUT_TOKENS, or set a larger window.", is_warning=True)]


def _list_price_problems(facts: dict[str, Any], role: CheckedRole) -> list[Problem]:
    is_local = role.model.provider in {"ollama", "ollama_chat", "lm_studio", "llamafile"}
    if facts["price_known"] or is_local:
        return []
    return [Problem("The price of the model is unknown, so costs leave it out.", "", is_warning=True)]


def _list_count_problems(client: ModelClient, role: CheckedRole) -> list[Problem]:
    found = client.prompt_counts.describe(role.model.model)
    return [Problem(found, f"Set {role.setting('CONTEXT_TOKENS')} to the window of the server.")] if found else []
