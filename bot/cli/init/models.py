"""Ask for a model and its key, say what it costs, and check it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.cli.init.pasted import describe_secret
from bot.cli.init.platforms import load_setups
from bot.model_setup.checks import check_models
from bot.model_setup.key_kinds import find_key_provider, find_model_provider, is_foreign_key, is_key
from bot.model_setup.monthly_cost import TEAM, MonthlyCost, estimate_month, price_month
from bot.model_setup.roles import role_model_settings
from engine.llm.client.protocol import ModelTraits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.cli.init.conversation import Conversation
    from engine import Clock
    from engine.llm.traits.model_check import ModelCheck

MODEL, KEY, BASE = "llm_model", "llm_api_key", "llm_api_base"
NONE = frozenset({"none", "no", "-"})
WITHOUT_KEY = frozenset({"ollama", "ollama_chat", "lm_studio", "hosted_vllm", "llamafile"})
QUESTION = (
    "Model that writes the answers: openai/gpt-4o-mini, anthropic/claude-haiku-4-5, ollama_chat/qwen3 … (any name of"
    " litellm), or none: answers then quote, without a key and without costs."
)


def ask_model(talk: Conversation) -> None:
    """Ask for a model, its address if it was given, and its key. Raises BadSetting."""
    talk.say()
    if BASE in talk.given.values:
        talk.ask_plain(BASE, "", find_address_problem)
    name = talk.ask_plain(MODEL, QUESTION, find_model_problem)
    if name.casefold() in NONE:
        talk.chosen[MODEL] = name = ""
    needs_key = find_model_provider(name) not in WITHOUT_KEY and not talk.find_value(BASE)
    if name and (needs_key or KEY in talk.given.values):
        _ask_key(talk, name)
    elif name and not talk.find_value(BASE):
        _remove_foreign_key(talk, name)


def _ask_key(talk: Conversation, name: str) -> None:
    """Ask for the key of the provider; it may also be in the variable of the provider."""
    if KEY not in talk.given.values:
        _remove_foreign_key(talk, name)
    question = f"API key of {find_model_provider(name) or 'the provider'}."
    if not talk.find_value(KEY):
        question = f"{question} Enter: it is in the environment."

    def find_problem(key: str) -> str:
        return find_key_problem(key, name)

    if not talk.ask_plain(KEY, question, find_problem, hidden=True):
        talk.say("No key is written: that of the provider's own variable is used, if it is set.")


def _remove_foreign_key(talk: Conversation, name: str) -> None:
    """Remove a present key that is not of the provider of the model: it would be sent to this one."""
    key, former = talk.find_present(KEY), talk.find_present(MODEL)
    if key and not fits_model(key, name, former):
        owner = find_key_provider(key) or find_model_provider(former)
        talk.say(f"The present key is of {owner}, not of {find_model_provider(name) or name}: it is removed.")
        talk.chosen[KEY] = ""


def fits_model(key: str, name: str, former: str) -> bool:
    """Whether a key that was there beside the `former` model can be used for this one. Pure."""
    provider = find_model_provider(name)
    was = find_model_provider(former)
    if not was or was == provider:
        return not is_foreign_key(key, name)
    return bool(provider) and find_key_provider(key) == provider


def find_model_problem(name: str) -> str:
    """What is wrong with the name of a model, in a sentence; empty if nothing can be told from it."""
    if is_key(name):
        return f"This is an API key ({find_key_provider(name) or 'of a provider'}); the model's name goes here."
    if "/" not in name and (what := describe_secret(name, load_setups().values())):
        return f"This is {what}; the model's name goes here."
    if "://" in name:
        return "This is an address: give it by --llm-api-base; the model's name goes here, such as openai/qwen3."
    if any(each.isspace() for each in name):
        return "The name of a model has no blanks; it looks like openai/gpt-4o-mini."
    return "" if name.isascii() else "There are characters in it that no model's name has; type it again."


def find_address_problem(address: str) -> str:
    """What is wrong with the address of a model's server, in a sentence."""
    if not address or address.startswith(("http://", "https://")):
        return ""
    return "An address starts with http:// or https://, such as http://localhost:11434."


def find_key_problem(key: str, name: str) -> str:
    """What is wrong with a key for a model, in a sentence; empty if nothing can be told from it."""
    provider = find_model_provider(name)
    if any(each.isspace() for each in key) or not key.isascii():
        return "No key has such characters: copy it again, in one piece."
    if "•" in key or "..." in key or "***" in key:
        return "This is hidden or cut off: providers show a key once; create another one."
    if is_foreign_key(key, name):
        found = find_key_provider(key)
        return f"This is a key of {found}, but {name} is of {provider}: give a key of {provider}, or another model."
    return ""


def show_cost(talk: Conversation, checks: Sequence[ModelCheck]) -> None:
    """Say what a month costs about, if the price of the model is known: from its check, or by looking it up."""
    settings = talk.load_chosen()
    if not settings.llm_model or find_model_provider(settings.llm_model) in WITHOUT_KEY:
        return
    priced = [each.facts for each in checks if each.role == "extraction" and each.facts.get("input_price")]
    cost: MonthlyCost | None
    if priced:
        prices = priced[0]["input_price"], priced[0]["output_price"]
        cost = price_month(ModelTraits(price_known=True, input_price=prices[0], output_price=prices[1]), TEAM)
    else:
        cost = asyncio.run(estimate_month(role_model_settings(settings, "extraction"), TEAM))
    use = f"{TEAM.messages} messages and {TEAM.questions} questions a day, {TEAM.documents} documents a month"
    if cost is None:
        talk.say("  The price of this model is not known; a model of your own costs nothing.")
    else:
        talk.say(f"  About {format_dollars(sum_cost(cost, settings.extraction_by))} a month for {use}.")
        cheaper = {each: format_dollars(sum_cost(cost, each)) for each in ("auto", "rules")}
        cheaper.pop(settings.extraction_by, None)
        listed = "; ".join(f"{name}: {dollars}" for name, dollars in cheaper.items())
        talk.say(f"  THREADLORE_EXTRACTION_BY={listed}{' (answers alone)' if 'rules' in cheaper else ''}.")


def sum_cost(cost: MonthlyCost, extraction_by: str) -> float:
    """The dollars of a month with this setting. Pure."""
    documents = 0.0 if extraction_by == "rules" else cost.documents
    messages = cost.messages if extraction_by == "model" else 0.0
    return cost.answers + documents + messages


def format_dollars(dollars: float) -> str:
    """Dollars with as many digits as say something."""
    return f"${dollars:.2f}" if dollars < 10 else f"${dollars:.0f}"


def check_model(talk: Conversation, clock: Clock) -> list[ModelCheck]:
    """Check the models of the chosen settings by tiny calls, and show what was found."""
    from bot.cli.doctor.models import render_checks  # noqa: PLC0415  - it imports what only a check needs

    settings = talk.load_chosen()
    if not settings.llm_model and not settings.embedding_model:
        return []
    talk.say("  Checking the model …")
    checks = asyncio.run(check_models(settings, clock))
    talk.out.print(render_checks(checks))
    for each in checks:
        wrong = [problem for problem in each.problems if not (problem.is_warning or problem.is_unreachable)]
        talk.mistakes += [f"{each.model}: {problem.text} {problem.hint}".strip() for problem in wrong]
    return checks
