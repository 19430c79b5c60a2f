"""Ask for a model and its key, say what it costs, and check it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from bot.model_setup.checks import check_models
from bot.model_setup.key_kinds import find_model_provider
from bot.setup.models import (
    BASE,
    EXAMPLES,
    KEY,
    MODEL,
    NONE,
    describe_cost,
    find_address_problem,
    find_key_problem,
    find_model_problem,
    list_model_mistakes,
    needs_key,
    remove_foreign_key,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.cli.init.conversation import Conversation
    from engine import Clock
    from engine.llm.traits.model_check import ModelCheck

QUESTION = (
    f"Model that writes the answers: {', '.join(EXAMPLES)} … (any name of litellm), or none: answers then quote,"
    " without a key and without costs."
)


def ask_model(talk: Conversation) -> None:
    """Ask for a model, its address if it was given, and its key. Raises BadSetting."""
    talk.say()
    if BASE in talk.given.values:
        talk.ask_plain(BASE, "", find_address_problem)
    name = talk.ask_plain(MODEL, QUESTION, find_model_problem)
    if name.casefold() in NONE:
        talk.chosen[MODEL] = name = ""
    if name and (needs_key(name, talk.find_value(BASE)) or KEY in talk.given.values):
        _ask_key(talk, name)
    elif name:
        _drop_foreign_key(talk, name)


def _ask_key(talk: Conversation, name: str) -> None:
    """Ask for the key of the provider; it may also be in the variable of the provider."""
    if KEY not in talk.given.values:
        _drop_foreign_key(talk, name)
    question = f"API key of {find_model_provider(name) or 'the provider'}."
    if not talk.find_value(KEY):
        question = f"{question} Enter: it is in the environment."

    def find_problem(key: str) -> str:
        return find_key_problem(key, name)

    if not talk.ask_plain(KEY, question, find_problem, hidden=True):
        talk.say("No key is written: that of the provider's own variable is used, if it is set.")


def _drop_foreign_key(talk: Conversation, name: str) -> None:
    if said := remove_foreign_key(talk, name):
        talk.say(said)


def show_cost(talk: Conversation, checks: Sequence[ModelCheck]) -> None:
    """Say what a month costs about, if anything is paid."""
    for line in asyncio.run(describe_cost(talk.load_chosen(), checks)):
        talk.say(f"  {line}")


def check_model(talk: Conversation, clock: Clock) -> list[ModelCheck]:
    """Check the models of the chosen settings by tiny calls, and show what was found."""
    from bot.cli.doctor.models import render_checks  # noqa: PLC0415  - it imports what only a check needs

    settings = talk.load_chosen()
    if not settings.llm_model and not settings.embedding_model:
        return []
    talk.say("  Checking the model …")
    checks = asyncio.run(check_models(settings, clock))
    talk.out.print(render_checks(checks))
    talk.mistakes += list_model_mistakes(checks)
    return checks
