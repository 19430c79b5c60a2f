"""People of different languages in one channel: each reads the bot's private sentences in their own."""

from __future__ import annotations

from typing import Any

import pytest

from bot import texts
from bot.commands.help import format_overview
from bot.commands.table import list_commands
from bot.i18n import gettext, use_language
from bot.texts import review as review_texts
from tests.acceptance.test_verified_answers import ask_publicly
from tests.support.town.discord import DiscordTown
from tests.support.town.live_bot import LiveBot
from tests.support.verbatim_language import find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
LOCALES = {"ada": "de-DE", "bob": "fr", "cleo": "pt-BR", "dora": "nl-NL", "eve": "../../x", "flo": "de/../" * 500}
LANGUAGES = {"ada": "de", "bob": "fr", "cleo": "pt", "dora": "en", "eve": "en", "flo": "en"}


def translate(sentence: str, language: str) -> str:
    with use_language(language):
        return gettext(sentence)


def list_help(live: LiveBot[Any], language: str) -> str:
    """A line of the help that shows its language."""
    traits = live.bot.context.traits_of(live.town.platform)
    with use_language(language):
        return format_overview(traits, list_commands(traits), manager=False).splitlines()[-1].rpartition("– ")[2]


async def set_language(live: LiveBot[Any], language: str) -> None:
    """Let the mayor set the language of the square."""
    named = {"setting": "language", "value": language}
    plain = {"words": f"language {language}"}
    await live.run_command("mayor", "square", "settings", **(named if isinstance(live.town, DiscordTown) else plain))


@pytest.mark.long
async def test_each_person_reads_private_sentences_in_their_language(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    for person, locale in LOCALES.items():
        town.add_person(person).user.locale = locale
    town.add_channel("square", f"{' '.join(LOCALES)} mayor")
    await live.post_passwords(square="agate")
    shown = {each: await live.run_command(each, "square", "help") for each in LOCALES}
    for person, language in LANGUAGES.items():
        assert list_help(live, language) in shown[person]
    assert len({list_help(live, each) for each in LANGUAGES.values()}) == 4

    private = {name: await live.ask(name, "square", way="private") for name in ("ada", "bob", "eve")}
    for person, answer in private.items():
        assert find_secrets(answer) == "agate"
        assert translate(texts.ONLY_VISIBLE_TO_YOU, LANGUAGES[person]) in answer
    assert await live.bot.event_queue.depth() == 0

    asked = await ask_publicly(live, "square")  # by ada, and without a setting
    assert translate(review_texts.IMPROVE_BUTTON, "de") in asked.buttons
    assert translate(review_texts.SAY_WRONG_BUTTON, "fr") in (await live.offers("bob", asked)).buttons

    await set_language(live, "Spanish")
    asked = await ask_publicly(live, "square")
    assert translate(review_texts.IMPROVE_BUTTON, "es") in asked.buttons
    assert translate(texts.ONLY_VISIBLE_TO_YOU, "de") in await live.ask("ada", "square", way="private")
    assert translate(review_texts.SAY_WRONG_BUTTON, "de") in (await live.offers("ada", asked)).buttons
    assert translate(texts.NOTHING_FOUND, "es") in await live.ask("bob", "square", "Where is the unicorn?")
