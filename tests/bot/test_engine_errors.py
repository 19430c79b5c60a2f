"""The sentences of the engine that the bot translates are those that the engine says."""

from __future__ import annotations

from bot import texts
from bot.i18n import use_language
from bot.texts.engine_errors import FILE_ERRORS, QUESTION_ERRORS
from bot.texts.omissions import REASONS
from engine.errors import EncryptedFile
from tests.support.source_trees import list_modules


def test_the_engine_says_each_of_these_sentences() -> None:
    code = "\n".join(path.read_text(encoding="utf-8") for path in list_modules("engine"))
    assert [error for error in (*FILE_ERRORS, *QUESTION_ERRORS, *REASONS) if f'"{error}"' not in code] == []


def test_the_reason_why_a_file_was_refused_is_translated() -> None:
    error = EncryptedFile("The PDF is locked with a password.", hint="Add a copy without protection.")
    with use_language("de"):
        shown = texts.file_refused("plan.pdf", texts.describe_error(error))
    assert shown.startswith("Ich konnte plan.pdf nicht lesen: Das PDF ist mit einem Passwort")
