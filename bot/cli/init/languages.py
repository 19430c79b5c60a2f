"""Ask for the languages of texts and questions, which choose the built-in embedder."""

from __future__ import annotations

from locale import getlocale
from typing import TYPE_CHECKING

from bot.errors import BadSetting
from bot.model_setup.openers import AUTO, split_languages
from engine.llm.e5.spoken import ENGLISH, LANGUAGES, needs_multilingual

if TYPE_CHECKING:
    from bot.cli.init.conversation import Conversation

SETTING = "languages"
QUESTION = "Languages of your texts and questions, such as de,en; auto: those that are counted in what is said."


def ask_languages(talk: Conversation) -> None:
    """Ask for languages if the built-in embedder is used. Raises BadSetting."""
    if talk.find_value("embedding_model"):
        return
    talk.say()
    is_open = talk.reader.is_terminal and not talk.find_value(SETTING)
    proposed = (propose_languages(getlocale()[0] or "") or AUTO) if is_open else ""
    question = f"{QUESTION} Enter: {proposed}." if proposed else QUESTION
    found = talk.ask_plain(SETTING, question, find_problem)
    if proposed and not found:
        talk.chosen[SETTING] = found = proposed
    if needs_multilingual(split_languages(found)):
        talk.say("  The multilingual embedder is used. A text takes it twice as long as the English one.")


def propose_languages(locale: str) -> str:
    """The language of a locale, such as de_AT, and English; nothing if it is English or not known. Pure."""
    code = locale.partition(".")[0].partition("_")[0].casefold()
    return f"{code},en" if code in LANGUAGES - ENGLISH else ""


def find_problem(text: str) -> str:
    """What is wrong with a list of languages, in a sentence; empty if nothing is."""
    try:
        split_languages(text)
    except BadSetting as error:
        return f"{error} {error.hint}"
    return ""
