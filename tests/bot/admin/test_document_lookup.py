from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.admin.document_lookup import chat_key, file_key, match_documents
from engine.errors import InvalidQuestion, NotFound
from engine.storage.ledger.records.query_results import DocumentInfo


def listed(key: str, title: str, link: str = "", kind: str = "file") -> DocumentInfo:
    return DocumentInfo(key, "console:local", "files", kind, title, link, None, False, "indexed", "", "", 1, 1)


MINUTES = listed("file:/town/minutes.md", "Minutes", "https://a.example/m")
RULES = listed("file:/town/rules.pdf", "Rules")
OLD_RULES = listed("file:/old/rules.pdf", "rules")
THERE = [MINUTES, RULES, OLD_RULES]
CHATS = [listed(f"chat:{each}", f"#harbour: {each}", "file:///town/harbour.jsonl", "conversation") for each in "ab"]


@pytest.mark.parametrize(
    "words",
    [
        "file:/town/minutes.md",
        "/town/minutes.md",
        "/town/../town/minutes.md",
        "minutes.md",
        "./x/../minutes.md",
        "minutes",
        "https://a.example/m",
    ],
)
def test_a_document_is_named_by_key_path_title_or_link(words: str) -> None:
    assert match_documents(words, "/town", THERE) == [MINUTES.key]


def test_a_path_is_taken_from_where_the_person_stands() -> None:
    assert match_documents("a.md", "/here", [listed("file:/here/a.md", "Tea")]) == ["file:/here/a.md"]
    with pytest.raises(NotFound):
        match_documents("a.md", "/there", [listed("file:/here/a.md", "Tea")])


@pytest.mark.parametrize("words", ["harbour.jsonl", "/town/harbour.jsonl", "file:///town/harbour.jsonl"])
def test_the_path_of_an_exported_room_means_all_its_conversations(words: str) -> None:
    assert match_documents(words, "/town", [*THERE, *CHATS]) == ["chat:a", "chat:b"]
    assert match_documents("chat:b", "/town", [*THERE, *CHATS]) == ["chat:b"]


def test_a_link_that_two_conversations_share_elsewhere_is_a_question_back() -> None:
    twice = [listed(key, "Tea", "https://a.example/t", "conversation") for key in "ab"]
    with pytest.raises(InvalidQuestion, match="a, b"):
        match_documents("https://a.example/t", "/", twice)


def test_a_title_that_begins_with_a_tilde_is_nobodys_home() -> None:
    assert match_documents("~none of us", "/", [listed("k", "~none of us")]) == ["k"]


def test_a_title_of_two_documents_is_a_question_back_with_their_keys() -> None:
    with pytest.raises(InvalidQuestion, match=r"file:/town/rules\.pdf, file:/old/rules\.pdf"):
        match_documents("Rules", "/", THERE)


def test_an_empty_word_names_nothing() -> None:
    with pytest.raises(NotFound):
        match_documents("", "/", THERE)


def test_a_document_that_is_not_there_is_an_error_with_a_hint() -> None:
    with pytest.raises(NotFound, match="tea") as caught:
        match_documents("tea", "/", THERE)
    assert "threadlore documents" in caught.value.hint


def test_keys_of_different_spaces_are_different() -> None:
    path = Path("/a/harbour.jsonl")
    assert len({file_key(path, "console:local"), file_key(path, "team")}) == 2
    assert len({chat_key(path, "console:local", "m1"), chat_key(path, "team", "m1")}) == 2


def test_rooms_of_one_name_in_two_folders_are_two() -> None:
    assert len({chat_key(Path(folder, "general.jsonl"), "team", "m1") for folder in ("/a", "/b")}) == 2


def test_a_file_whose_name_is_no_text_is_found_by_its_path() -> None:
    path = Path(os.fsdecode(b"/notes/bad\xff name.txt"))
    key = file_key(path, "console:local")
    key.encode()
    assert match_documents(str(path), "/", [listed(key, "Bad")]) == [key]
    assert match_documents(path.name, "/notes", [listed(key, "Bad")]) == [key]
