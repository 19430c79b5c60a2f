"""The sentences of the code, as a template of catalogs, and what a catalog lacks."""

from __future__ import annotations

import ast
import re
from collections import Counter
from datetime import UTC, datetime
from functools import cache
from typing import TYPE_CHECKING

from babel.messages.catalog import Catalog
from babel.messages.extract import extract_from_dir
from babel.messages.pofile import read_po, write_po

from bot.i18n import find_catalog
from tests.support.source_trees import ROOT, list_modules, list_nodes, relative_name

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from babel.messages.catalog import Message

KEYWORDS = {"gettext": None, "N_": None, "ngettext": (1, 2), "pluralize": (2, 3)}
HEADER = "# The sentences of Threadlore; `make catalogs` renews this file."
CREATED = datetime(2026, 1, 1, tzinfo=UTC)  # always the same, so that only sentences change a file
WIDTH = 110
# Placeholders, code, bold, links, mentions of commands, emoji and line breaks: what a translation must keep.
MARKS = re.compile(r"\{\w*\}|`|\*\*|\n|\]\(|✅|👍|👎|(?<!\w)_|_(?!\w)")


@cache
def extract_messages() -> Catalog:
    """All marked sentences of the bot and the adapters."""
    template = _new_catalog()
    for folder in ("bot", "adapters"):
        found = extract_from_dir(ROOT / folder, [("**.py", "python")], keywords=KEYWORDS)
        for file, _, message, _, _ in sorted(found, key=lambda each: (str(each[0]), each[1])):
            template.add(message, locations=[(f"{folder}/{file}", 0)])
        for path in list_modules(folder):
            for sentence in _list_formatted(path):
                template.add(sentence, locations=[(relative_name(path), 0)])
    return template


def _list_formatted(path: Path) -> Iterator[str]:
    """The marked sentences within f-strings, which the extraction passes over before Python 3.12."""
    for text in list_nodes(path):
        for node in ast.walk(text) if isinstance(text, ast.JoinedStr) else ():
            match node:
                case ast.Call(ast.Name("gettext"), [ast.Constant(str(sentence))]):
                    yield sentence


def read_catalog(language: str) -> Catalog:
    """The catalog of a language, empty if there is none."""
    path = find_catalog(language)
    if not path.exists():
        return _new_catalog(language)
    with path.open("rb") as file:
        return read_po(file, locale=language)


def write_catalog(path: Path, catalog: Catalog) -> None:
    """Write a catalog or the template."""
    catalog.creation_date = catalog.revision_date = CREATED
    catalog.header_comment, catalog.fuzzy = HEADER, False
    catalog.msgid_bugs_address = catalog.last_translator = catalog.language_team = ""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        write_po(file, catalog, width=WIDTH, ignore_obsolete=True, include_lineno=False)


def list_flaws(catalog: Catalog, template: Catalog) -> Iterator[str]:
    """The sentences of the template that a catalog does not translate, or not with the same placeholders and marks."""
    for message in template:
        if not message.id:
            continue
        translated = catalog.get(message.id)
        if translated is None or translated.fuzzy or not all(_forms(translated)):
            yield f"not translated: {message.id}"
        elif any(_marks(form) not in _expected(message) for form in _forms(translated)):
            yield f"other placeholders or marks: {message.id}"


def _new_catalog(language: str | None = None) -> Catalog:
    return Catalog(
        language, header_comment=HEADER, project="Threadlore", charset="utf-8", creation_date=CREATED, fuzzy=False
    )


def _forms(message: Message) -> tuple[str, ...]:
    found = message.string or ""
    return (found,) if isinstance(found, str) else tuple(found)


def _marks(text: str) -> Counter[str]:
    return Counter(MARKS.findall(text))


def _expected(message: Message) -> list[Counter[str]]:
    """The marks of a sentence; of one with a plural, those of either form."""
    ids = message.id if isinstance(message.id, tuple | list) else (message.id,)
    return [_marks(id_) for id_ in ids]
