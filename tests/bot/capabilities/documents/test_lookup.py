from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from bot.capabilities.documents.lookup import chat_key, file_key, match_documents
from engine.errors import InvalidQuestion, NotFound
from tests.support.builders import make_listed

MINUTES = make_listed("file:/town/minutes.md", "Minutes", link="https://a.example/m")
RULES, OLD_RULES = make_listed("file:/town/rules.pdf"), make_listed("file:/old/rules.pdf", "rules")
CHAT: dict[str, Any] = {"link": "file:///town/harbour.jsonl", "kind": "conversation"}
CHATS = [make_listed(f"chat:{character}", f"#harbour: {character}", **CHAT) for character in "ab"]
TWICE = [make_listed(key, "Tea", link="https://a.example/t", kind="conversation") for key in "ab"]
TILDE, HERE = make_listed("k", "~none of us"), make_listed("file:/here/a.md", "Tea")
ALL = [MINUTES, RULES, OLD_RULES, *CHATS, TILDE, HERE]
BAD_NAME = Path(os.fsdecode(b"/notes/bad\xff name.txt"))
LOCAL = "console:local"


@pytest.mark.parametrize(
    ("words", "folder", "keys"),
    [
        *(
            (words, "/town", [MINUTES.key])
            for words in (MINUTES.key, "/town/minutes.md", "/town/../town/minutes.md", "minutes.md")
        ),
        *((words, "/town", [MINUTES.key]) for words in ("./x/../minutes.md", "minutes", "https://a.example/m")),
        ("a.md", "/here", [HERE.key]),
        *(
            (words, "/town", ["chat:a", "chat:b"])
            for words in ("harbour.jsonl", "/town/harbour.jsonl", "file:///town/harbour.jsonl")
        ),
        ("chat:b", "/town", ["chat:b"]),
        ("~none of us", "/", ["k"]),
    ],
)
def test_documents_are_named_by_key_path_title_or_link(words: str, folder: str, keys: list[str]) -> None:
    assert [document.key for document in match_documents(words, ALL, folder)] == keys


@pytest.mark.parametrize(
    ("words", "listed", "error", "text"),
    [
        ("https://a.example/t", TWICE, InvalidQuestion, "a; b"),
        ("Rules", ALL, InvalidQuestion, "file:/town/rules.pdf; file:/old/rules.pdf"),
        ("", ALL, NotFound, None),
        ("a.md", [HERE], NotFound, None),
        ("coffee", ALL, NotFound, "coffee"),
    ],
)
def test_several_documents_or_none_are_an_error(words: str, listed: Any, error: Any, text: str | None) -> None:
    with pytest.raises(error) as caught:
        match_documents(words, listed, "/there")
    assert (text or "") in f"{caught.value} {caught.value.hint}"
    assert text != "coffee" or "threadlore documents" in caught.value.hint


def test_keys_of_different_spaces_and_folders_are_different() -> None:
    path = Path("/a/harbour.jsonl")
    assert file_key(path, LOCAL) != file_key(path, "team")
    keys = {chat_key(path, LOCAL, "m1"), chat_key(path, "team", "m1"), chat_key(Path("/b/harbour.jsonl"), "team", "m1")}
    assert len(keys) == 3


@pytest.mark.parametrize(("words", "folder"), [(str(BAD_NAME), "/"), (BAD_NAME.name, "/notes")])
def test_a_file_whose_name_is_no_text_is_found_by_its_path(words: str, folder: str) -> None:
    key = file_key(BAD_NAME, LOCAL)
    assert key.encode()
    assert [document.key for document in match_documents(words, [make_listed(key, "Bad")], folder)] == [key]


@pytest.mark.parametrize("words", ["/town/minutes.md", "file:///town/harbour.jsonl", "~/minutes.md"])
def test_who_may_not_know_the_paths_of_the_machine_names_no_document_by_one(words: str) -> None:
    with pytest.raises(NotFound):
        match_documents(words, ALL)
    assert match_documents("minutes", ALL) == [MINUTES]
