"""How much a model reasons before it replies: the lowest effort that it offers. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

LOWEST, UNSET = "lowest", "default"  # settings: the lowest effort that the model offers, and the provider's default
LEVELS = ("none", "minimal", "low", "medium", "high", "xhigh")
# Providers whose models reason unless they are told not to; elsewhere reasoning begins only when it is asked for.
REASONING_PROVIDERS = frozenset({"openai", "azure", "openrouter", "xai", "groq", "gemini", "vertex_ai"})
OLLAMA = frozenset({"ollama", "ollama_chat"})


def choose_effort(wanted: str, provider: str, model: str, traits: Mapping[str, Any]) -> str:
    """The effort to send with a request, "" to send none. `traits`: of the model, from litellm's map."""
    if wanted in {"", UNSET}:
        return ""
    return wanted if wanted != LOWEST else find_lowest_effort(provider, model, traits)


def find_lowest_effort(provider: str, model: str, traits: Mapping[str, Any]) -> str:
    """The lowest effort that a model offers, "" if it is not known to reason by itself."""
    name = model.casefold()
    if provider in OLLAMA:
        return "low" if "gpt-oss" in name else "none"
    if provider not in REASONING_PROVIDERS or not traits.get("supports_reasoning"):
        return ""
    if levels := traits.get("reasoning_effort_levels"):
        return min(map(str, levels), key=lambda level: LEVELS.index(level) if level in LEVELS else len(LEVELS))
    for level in LEVELS[:2]:
        if traits.get(f"supports_{level}_reasoning_effort"):
            return level
    if provider in {"gemini", "vertex_ai"}:
        return "minimal" if "gemini" in name else ""
    return "low"
