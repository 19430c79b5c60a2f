"""Ask the provider of a model for its context window, else look it up in litellm's map.

Servers of open models state it each in their own way: Ollama, LM Studio, vLLM, llama.cpp and OpenRouter.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from engine.llm.client.protocol import ModelTraits
from engine.llm.traits.reasoning import LOWEST, OLLAMA, choose_effort

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    import httpx

    from engine.llm.client.protocol import CallParameters

SECONDS = 5.0
OLLAMA_ADDRESS, OPENROUTER_ADDRESS = "http://localhost:11434", "https://openrouter.ai/api/v1"
LISTING_PROVIDERS = frozenset({"openai", "hosted_vllm", "lm_studio", "llamafile", "openrouter", "custom_openai"})
# Fields of a listed model, the size that is loaded before the largest possible one.
WINDOW_FIELDS = ("max_model_len", "loaded_context_length", "context_length", "context_window", "max_context_length")
_NUM_CTX = re.compile(r"^num_ctx\s+(\d+)", re.MULTILINE)


async def describe_model(known: Mapping[str, Any], parameters: CallParameters) -> ModelTraits:
    """What is known of a model. `known`: its row of litellm's map, empty for an unknown model."""
    provider, _, name = parameters["model"].partition("/")
    import httpx  # noqa: PLC0415 - only where a model is described; litellm has loaded it there

    async with httpx.AsyncClient(timeout=SECONDS) as http:
        stated = await _ask_provider(http, provider, name, parameters)
    window, output = _find_window(stated), _as_number(_find_listed_output(stated))
    origin = "provider" if window else "map"
    window = window or _as_number(known.get("max_input_tokens") or known.get("max_tokens"))
    return ModelTraits(
        window,
        origin if window else "",
        output or _as_number(known.get("max_output_tokens")),
        bool(known.get("supports_reasoning")) or "thinking" in stated.get("capabilities", ()),
        choose_effort(LOWEST, provider, parameters["model"], known),
        bool("input_cost_per_token" in known or stated.get("pricing")),
        _find_price("input_cost_per_token", "prompt", known, stated),
        _find_price("output_cost_per_token", "completion", known, stated),
    )


def _find_price(listed: str, named: str, known: Mapping[str, Any], stated: Mapping[str, Any]) -> float:
    """The price of a token in US dollars, as the provider states it or litellm's map has it; 0 if neither does."""
    pricing = stated.get("pricing")
    try:
        return float(pricing[named]) if isinstance(pricing, dict) and named in pricing else float(known.get(listed, 0))
    except (TypeError, ValueError):
        return 0.0


async def _ask_provider(
    http: httpx.AsyncClient, provider: str, name: str, parameters: CallParameters
) -> Mapping[str, Any]:
    """What the provider states of a model, {} if it states nothing."""
    base = str(parameters.get("api_base", "")).rstrip("/")
    key = parameters.get("api_key", "")
    headers = {"Authorization": f"Bearer {key}"} if key else {}
    if provider in OLLAMA:
        address = base or OLLAMA_ADDRESS
        return await _fetch(http.post(f"{address}/api/show", json={"model": name}, headers=headers))
    if provider == "openrouter":
        base = base or OPENROUTER_ADDRESS
    if provider not in LISTING_PROVIDERS or not base:
        return {}
    root = base.removesuffix("/v1")
    for address in (f"{root}/api/v0/models", f"{base}/models"):
        row = _find_row(await _fetch(http.get(address, headers=headers)), name)
        if _find_window(row):
            return row
    return (await _fetch(http.get(f"{root}/props", headers=headers))).get("default_generation_settings") or {}


async def _fetch(request: Any) -> Mapping[str, Any]:
    """The JSON object of a reply, {} if there is none: an old server does not know the address."""
    import httpx  # noqa: PLC0415 - see above

    try:
        found = (await request).raise_for_status().json()
    except (httpx.HTTPError, httpx.InvalidURL, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _find_row(listing: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The row of a model in a listing; a server with a single model may call it by another name."""
    rows = [row for row in listing.get("data") or () if isinstance(row, dict)]
    own = next((row for row in rows if row.get("id") == name), None)
    return own or (rows[0] if len(rows) == 1 else {})


def _find_window(stated: Mapping[str, Any]) -> int:
    """The context window that a provider states, in any of its forms; 0 if there is none."""
    if (chosen := _NUM_CTX.search(str(stated.get("parameters", "")))) is not None:
        return int(chosen[1])
    nested = (stated.get("model_info"), stated.get("meta"), stated.get("top_provider"))
    return _first_number([*(stated.get(name) for name in WINDOW_FIELDS), stated.get("n_ctx")]) or _first_number(
        value
        for fields in nested
        if isinstance(fields, dict)
        for name, value in fields.items()
        if name.endswith((".context_length", "n_ctx_train")) or name == "context_length"
    )


def _find_listed_output(stated: Mapping[str, Any]) -> object:
    provider = stated.get("top_provider")
    return provider.get("max_completion_tokens") if isinstance(provider, dict) else None


def _first_number(values: Iterable[object]) -> int:
    return next(filter(None, map(_as_number, values)), 0)


def _as_number(value: object) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
