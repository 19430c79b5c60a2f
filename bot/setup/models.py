"""The model that writes answers: what is wrong with its name or key, and what a month costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.model_setup.key_kinds import (
    find_foreign_key,
    find_key_provider,
    find_model_provider,
    find_name_mistake,
    is_foreign_key,
)
from bot.model_setup.monthly_cost import TEAM, MonthlyCost, estimate_month, price_month
from bot.model_setup.roles import role_model_settings
from bot.setup.pasted import describe_secret
from bot.setup.platforms import load_setups
from engine.llm.client.protocol import ModelTraits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.settings import Settings
    from bot.setup.draft import SetupDraft
    from engine.llm.traits.model_check import ModelCheck

MODEL, KEY, BASE = "llm_model", "llm_api_key", "llm_api_base"
NONE = frozenset({"none", "no", "-"})
WITHOUT_KEY = frozenset({"ollama", "ollama_chat", "lm_studio", "hosted_vllm", "llamafile"})
EXAMPLES = ("openai/gpt-4o-mini", "anthropic/claude-haiku-4-5", "ollama_chat/qwen3")


def needs_key(name: str, base: str) -> bool:
    """Whether a model needs a key of its provider; a server of one's own needs none. Pure."""
    return bool(name) and find_model_provider(name) not in WITHOUT_KEY and not base


def remove_foreign_key(draft: SetupDraft, name: str) -> str:
    """Remove a present key that is of another server or provider than the model, and say so: it would be sent there."""
    key, former, base = draft.find_present(KEY), draft.find_present(MODEL), draft.find_value(BASE)
    if key and base != draft.find_present(BASE):
        draft.chosen[KEY] = ""
        return "The present key is of another server: it is removed."
    if not key or base or fits_model(key, name, former):
        return ""
    draft.chosen[KEY] = ""
    owner = find_key_provider(key) or find_model_provider(former)
    return f"The present key is of {owner}, not of {find_model_provider(name) or name}: it is removed."


def fits_model(key: str, name: str, former: str) -> bool:
    """Whether a key that was there beside the `former` model can be used for this one. Pure."""
    provider = find_model_provider(name)
    was = find_model_provider(former)
    if not was or was == provider:
        return not is_foreign_key(key, name)
    return bool(provider) and find_key_provider(key) == provider


def find_model_problem(name: str) -> str:
    """What is wrong with the name of a model, in a sentence; empty if nothing can be told from it."""
    if mistake := find_name_mistake(name):
        return mistake
    if "/" not in name and (what := describe_secret(name, load_setups().values())):
        return f"This is {what}; the model's name goes here."
    if any(character.isspace() for character in name):
        return "The name of a model has no blanks; it looks like openai/gpt-4o-mini."
    return "" if name.isascii() else "There are characters in it that no model's name has; type it again."


def find_address_problem(address: str) -> str:
    """What is wrong with the address of a model's server, in a sentence."""
    if not address or address.startswith(("http://", "https://")):
        return ""
    return "An address starts with http:// or https://, such as http://localhost:11434."


def find_key_problem(key: str, name: str) -> str:
    """What is wrong with a key for a model, in a sentence; empty if nothing can be told from it."""
    if any(character.isspace() for character in key) or not key.isascii():
        return "No key has such characters: copy it again, in one piece."
    if "•" in key or "..." in key or "***" in key:
        return "This is hidden or cut off: providers show a key once; create another one."
    return find_foreign_key(key, name)


async def describe_cost(settings: Settings, checks: Sequence[ModelCheck]) -> list[str]:
    """What a month costs about, each as a sentence; the price is that of a check, or is looked up.

    Empty if nothing is paid.
    """
    if not settings.llm_model or find_model_provider(settings.llm_model) in WITHOUT_KEY:
        return []
    cost = _price_checked(checks) or await estimate_month(role_model_settings(settings, "extraction"), TEAM)
    if cost is None:
        return ["The price of this model is not known; a model of your own costs nothing."]
    use = f"{TEAM.messages} messages and {TEAM.questions} questions a day, {TEAM.documents} documents a month"
    cheaper = {name: format_dollars(sum_cost(cost, name)) for name in ("auto", "rules")}
    cheaper.pop(settings.extraction_by, None)
    listed = "; ".join(f"{name}: {dollars}" for name, dollars in cheaper.items())
    return [
        f"About {format_dollars(sum_cost(cost, settings.extraction_by))} a month for {use}.",
        f"THREADLORE_EXTRACTION_BY={listed}{' (answers alone)' if 'rules' in cheaper else ''}.",
    ]


def _price_checked(checks: Sequence[ModelCheck]) -> MonthlyCost | None:
    """The cost at the prices that a check of the model found."""
    for check in checks:
        if check.role == "extraction" and check.facts.get("input_price"):
            prices = check.facts["input_price"], check.facts["output_price"]
            return price_month(ModelTraits(price_known=True, input_price=prices[0], output_price=prices[1]), TEAM)
    return None


def list_model_mistakes(checks: Sequence[ModelCheck]) -> list[str]:
    """What does not work, each as a sentence; not what merely cannot be reached now."""
    return [
        f"{check.model}: {problem.text} {problem.hint}".strip()
        for check in checks
        for problem in check.problems
        if not (problem.is_warning or problem.is_unreachable)
    ]


def sum_cost(cost: MonthlyCost, extraction_by: str) -> float:
    """The dollars of a month with this setting. Pure."""
    documents = 0.0 if extraction_by == "rules" else cost.documents
    messages = cost.messages if extraction_by == "model" else 0.0
    return cost.answers + documents + messages


def format_dollars(dollars: float) -> str:
    """Dollars with as many digits as say something."""
    return f"${dollars:.2f}" if dollars < 10 else f"${dollars:.0f}"
