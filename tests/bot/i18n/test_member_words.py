"""What every member may read holds no word of the program's insides; sentences for managers and the owner may."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.commands.table import COMMANDS
from bot.texts.search_notices import SEARCH_MODES
from tests.support.catalogs import extract_messages

INSIDES = re.compile(
    r"\b(spaces?|chunks?|entit(?:y|ies)|passages?|keys?|embedd\w*|vectors?|rerank\w*|retrieval|extract\w*|"
    rf"{'|'.join(set(SEARCH_MODES) - {'local', 'global', 'mix'})}|UTC)\b|THREADLORE_|(?:local|global|mix) mode",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"\{\w*\}")
# The settings of a channel are shown to managers alone.
FOR_MANAGERS = {
    "bot/commands/settings/fields.py",
    "bot/commands/settings/changes.py",
    "bot/commands/settings/command.py",
}
OTHERS = {
    "the same except for hyphens, spaces, periods or accents",  # blanks between words
}


def list_member_sentences() -> Iterator[str]:
    """The sentences of the catalog that people without a right may read."""
    managers = {
        part for command in COMMANDS.values() if command.managers_only for part in (command.summary, command.details)
    }
    for message in extract_messages():
        places = {file for file, _ in message.locations}
        forms = (message.id,) if isinstance(message.id, str) else tuple(message.id)
        if not places <= FOR_MANAGERS:
            yield from (form for form in forms if form and form not in managers | OTHERS)


def test_no_member_reads_a_word_of_the_program_s_insides() -> None:
    found = [sentence for sentence in list_member_sentences() if INSIDES.search(PLACEHOLDER.sub("", sentence))]
    assert not found


def test_the_words_are_looked_for() -> None:
    assert all(map(INSIDES.search, ("one chunk", "in hybrid mode", "Set THREADLORE_X.", "the local mode", "Its KEY.")))
    assert not any(map(INSIDES.search, ("the local time", "a monkey", "many namespaces of people", "a mix of both")))
