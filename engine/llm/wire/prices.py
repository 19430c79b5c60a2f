"""The price of a call in US dollars: the provider's own figure, else by litellm's prices, cached tokens included."""

from __future__ import annotations

from typing import Any


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
