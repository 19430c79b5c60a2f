"""What a token gets names files, and not where they lie."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import texts
from bot.capabilities.access.hints import hide_paths, hide_paths_of_error, strip_folders, word_errors
from bot.capabilities.documents.lookup import public_key
from bot.capabilities.documents.requests import DocumentResult
from bot.capabilities.results import AnswerDelta, CorrectionMade, DocumentList, StatusResult
from engine import CorrectionChange, DocumentInfo, IndexProblem, IndexStatus, ManualCorrection
from engine.errors import InvalidDocument
from engine.models import Passage

LINK, ERROR = "file:///srv/lore/notes.md", "The file /srv/lore/notes.md is broken."
INFO = DocumentInfo(
    "file:/srv/lore/notes.md", "console:local", "r", "file", "Notes", LINK, None, False, "failed", ERROR, "", 1, 1
)


def test_documents_and_passages_have_neither_paths_nor_links_to_files() -> None:
    passages = (Passage("1", "/srv is a folder", link="file:///srv/lore/notes.md#page=2"),)
    hidden = hide_paths(DocumentResult(INFO, passages))
    assert hidden.document == replace(INFO, key=public_key(INFO.key), link="", error="The file notes.md is broken.")
    assert hidden.passages == (replace(passages[0], link=""),)


def test_the_rule_of_a_split_names_a_document_without_its_path() -> None:
    rule = ManualCorrection("split", "console:local", "Avon", "Avon (town)", f"document {INFO.key}")
    hidden = hide_paths(CorrectionMade("console:local", CorrectionChange(made=(rule,))))
    assert hidden.change.made == (replace(rule, description=f"document {public_key(INFO.key)}"),)
    assert hide_paths(replace(rule, description="type place")).description == "type place"


def test_what_has_no_path_stays_as_it_is() -> None:
    web = replace(INFO, key="slack:T1:C1:1.2", link="https://t.example/a/b", error="")
    for each in (DocumentList((web,)), AnswerDelta("See /srv/lore.")):
        assert hide_paths(each) is each


def test_keys_of_files_of_one_name_differ() -> None:
    keys = {public_key(f"file:/srv/{character}/notes.md") for character in "ab"}
    assert len(keys) == 2
    assert all(key.endswith(":notes.md") and "srv" not in key for key in keys)
    assert {public_key(key) for key in keys} == keys


@pytest.mark.parametrize(
    ("text", "stripped"),
    [
        ("The file /srv/lore/a.md is broken.", "The file a.md is broken."),
        ("“/home/ada/.local/share/x.pdf” cannot be read", "“x.pdf” cannot be read"),
        ("file:///srv/lore/a.md: No such file", "a.md: No such file"),
        ("~/notes/a.md", "a.md"),
        ("See https://docs.example/a/b.html and and/or.", "See https://docs.example/a/b.html and and/or."),
    ],
)
def test_messages_name_files_without_their_folders(text: str, stripped: str) -> None:
    assert strip_folders(text) == stripped


def test_errors_name_files_without_their_folders() -> None:
    error = InvalidDocument("/srv/lore/a.md is no PDF.", hint="Look at /srv/lore/a.md.")
    hide_paths_of_error(error)
    assert (str(error), error.hint) == ("a.md is no PDF.", "Look at a.md.")


QUIET = StatusResult(IndexStatus({"indexed": 1}, 1, 1, 0, 0, 0, 0, 0))


def test_trouble_in_a_status_is_worded_as_in_the_chat() -> None:
    told = replace(QUIET, status=replace(QUIET.status, trouble="http://models.internal:8000 refused parrot-70b."))
    assert word_errors(told) == replace(QUIET, status=replace(QUIET.status, trouble=texts.MODEL_TROUBLE))
    assert word_errors(QUIET) == QUIET


def test_so_is_what_was_not_read() -> None:
    told = IndexProblem("k", "Nets", "rowless", "parrot-70b gave nothing: “Give me text.”", "Buy a parrot-80b.", 2)
    result = word_errors(replace(QUIET, problems=(told,)))
    worded = texts.MODEL_TROUBLE[:1].upper() + texts.MODEL_TROUBLE[1:]
    assert result == replace(QUIET, problems=(IndexProblem("k", "Nets", "rowless", worded, "", 2),))
