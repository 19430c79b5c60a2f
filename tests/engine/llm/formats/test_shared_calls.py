from __future__ import annotations

import json
import re
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.json_extraction import parse_json_extraction
from engine.llm.formats.shared_calls import (
    has_misattributed_facts,
    parse_summaries,
    split_json_by_excerpt,
    split_rows_by_excerpt,
)
from engine.llm.formats.tuple_extraction import END_MARKER, parse_tuples
from engine.models import Excerpt, Extraction, Link, Mention

ADA = "entity<|#|>Ada<|#|>Person<|#|>Ada rows."
BOB = "entity<|#|>Bob<|#|>Person<|#|>Bob bakes."

END = "<|COMPLETE|>"


def names(replies: dict[int, str], parse: Callable[[str], Extraction]) -> dict[int, list[str]]:
    return {number: [mention.name for mention in parse(text).mentions] for number, text in replies.items()}


# The lines of a reply, separated by ";"; A and B stand for rows.
@pytest.mark.parametrize(
    ("reply", "found"),
    [
        pytest.param("1; A; 2; B; END", {1: ["Ada"], 2: ["Bob"]}, id="two"),
        pytest.param("1; 2; B; 3; END", {1: [], 2: ["Bob"], 3: []}, id="empty ones"),
        pytest.param("1; A; END; 2; B; END", {1: ["Ada"], 2: ["Bob"]}, id="an end after each"),
        pytest.param("(excerpt<|#|>1); (A); END", {1: ["Ada"]}, id="parentheses"),
        pytest.param("**Excerpt 1:**; A; Excerpt #2; B; END", {1: ["Ada"], 2: ["Bob"]}, id="plain headings"),
        pytest.param("Here are the rows:; ```; 1; A; END; ```", {1: ["Ada"]}, id="prose and a fence"),
        pytest.param("excerpt<|#|>1<|#|>A; END", {1: ["Ada"]}, id="heading and row on one line"),
        pytest.param("excerpt<|#>1; A; END", {1: ["Ada"]}, id="damaged delimiter"),
        pytest.param("<think>excerpt<|#|>9</think>excerpt<|#|>1; A; END", {1: ["Ada"]}, id="thinking"),
        pytest.param("1; A; 2; entity<|#|>Bob<|#|>Per", {1: ["Ada"]}, id="the last one cut off"),
        pytest.param("1; A; END; 2; entity<|#|>Bob<|#|>Per", {1: ["Ada"]}, id="the last one cut off after an end"),
        pytest.param("1; A", {}, id="the only one cut off"),
        pytest.param("A; 2; B; END", {}, id="a row before any number"),
        pytest.param("1; A; 1; B; END", {}, id="a number twice"),
        pytest.param("2; B; 1; A; END", {}, id="numbers out of order"),
        pytest.param("1; A; 4; B; END", {}, id="a number too high"),
        pytest.param("0; A; END", {}, id="zero"),
        pytest.param("A; B; END", {}, id="no numbers"),
        pytest.param("I cannot do that.", {}, id="prose only"),
        pytest.param("", {}, id="nothing"),
    ],
)
def test_rows_are_split_by_excerpt_and_odd_numbers_are_rejected(reply: str, found: dict[int, list[str]]) -> None:
    lines = (f"excerpt<|#|>{line}" if line.isdigit() else line for line in reply.split("; "))
    rows = (re.sub(r"\bA\b", ADA, re.sub(r"\bB\b", BOB, line.replace("END", END_MARKER))) for line in lines)
    assert names(split_rows_by_excerpt("\n".join(rows), 3), parse_tuples) == found


@given(st.text(alphabet="excrpt<|#>123\n COMPLTEentity", max_size=80))
def test_any_reply_gives_only_numbers_that_were_asked(reply: str) -> None:
    assert set(split_rows_by_excerpt(reply, 2)) <= {1, 2}
    assert set(split_json_by_excerpt(reply, 2)) <= {1, 2}


def item(number: object, name: str) -> dict[str, object]:
    return {"number": number, "entities": [{"name": name, "type": "Person", "description": f"{name} rows."}]}


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (json.dumps({"excerpts": [item(1, "Ada"), item(2, "Bob")]}), {1: ["Ada"], 2: ["Bob"]}),
        (f"```json\n{json.dumps({'excerpts': [item(1, 'Ada')]})}\n```", {1: ["Ada"]}),
        (json.dumps({"excerpts": [item(1, "Ada"), item(2, "Bob")]})[:-12], {1: ["Ada"]}),
        (json.dumps({"excerpts": [item(1, "Ada"), item(1, "Bob")]}), {}),
        (json.dumps({"excerpts": [item("1", "Ada")]}), {}),
        (json.dumps({"excerpts": [item(7, "Ada")]}), {}),
        (json.dumps(item(1, "Ada")), {}),
        ("[]", {}),
    ],
)
def test_json_is_split_by_excerpt_and_odd_numbers_are_rejected(reply: str, found: dict[int, list[str]]) -> None:
    assert names(split_json_by_excerpt(reply, 3), parse_json_extraction) == found


FERRY = Excerpt("[2026-05-04 06:10] Ines Dalgarno: the Gudgeon leaves at noon, 250 seats.")
BAKERY = Excerpt("[2026-05-04 07:52] Ottoline Varr: Bo bakes bread.", "The Third Loaf")


def facts(name: str, description: str, *links: Link) -> Extraction:
    return Extraction((Mention(name, "thing", description),), links)


BOAT = facts("Gudgeon", "A boat with 250 seats.")
BO = facts("Bo", "Bo bakes bread at The Third Loaf.")


@pytest.mark.parametrize(
    ("ferry", "bakery", "is_mixed"),
    [
        pytest.param(facts("Gudgeon", "The Gudgeon leaves at noon."), BO, False, id="own words"),
        pytest.param(facts("Harbour", "A harbour from which boats leave on Monday."), BO, False, id="a paraphrase"),
        pytest.param(BOAT, BO, False, id="own number"),
        pytest.param(facts("Bo", "Bo bakes."), BO, True, id="foreign name"),
        pytest.param(facts("Gudgeon", "The Gudgeon carries bread to Ottoline."), BO, True, id="foreign word"),
        pytest.param(facts("Third Loaf", "A bakery."), BO, True, id="name of a foreign section"),
        pytest.param(facts("Gudgeon", "A boat.", Link("Gudgeon", "Ottoline Varr", "x", "y")), BO, True, id="link"),
        pytest.param(BOAT, facts("Bo", "Bo bakes 250 loaves."), True, id="foreign number"),
    ],
)
def test_facts_that_only_another_excerpt_states_are_noticed(
    ferry: Extraction, bakery: Extraction, *, is_mixed: bool
) -> None:
    assert has_misattributed_facts([FERRY, BAKERY], {1: ferry, 2: bakery}) == is_mixed


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>It is old.\n{END}", {1: "Ada mills.", 2: "It is old."}),
        (f"(summary<|#|>1<|#|>Ada mills.)\n{END}", {1: "Ada mills."}),
        (f"**Summary**<|>#1<|#|>Ada mills.\n{END}", {}),
        (f"Summary<#>1.<|#|Ada mills.\n{END}", {1: "Ada mills."}),
        (f"Here they are:\nsummary<|#|>1<|#|>Ada mills.\nShe owns it.\n{END}", {1: "Ada mills.\nShe owns it."}),
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>1<|#|>Bo does.\n{END}", {}),
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>\nIt is old.\n{END}", {1: "Ada mills.", 2: "It is old."}),
        (f"summary<|#|>1<|#|>Ada mills.\n2<|#|>It is old.\nsummary<|#|>3<|#|>Bo bakes.\n{END}", {3: "Bo bakes."}),
        (f"```\nsummary<|#|>1<|#|>Ada mills.\n{END}\n```\nLet me know if you need more.", {1: "Ada mills."}),
        (f"summary<|#|>0<|#|>Ada mills.\nsummary<|#|>1<|#|>It is old.\n{END}", {}),
        (f"summary<|#|>1<|#|>Ada mills.\nsummary<|#|>4<|#|>Nobody asked.\n{END}", {}),
        ("summary<|#|>1<|#|>Ada mills.\nsummary<|#|>2<|#|>It is o", {1: "Ada mills."}),
        (f"<think>summary<|#|>1<|#|>Hm.</think>summary<|#|>1<|#|>Ada mills.{END}", {1: "Ada mills."}),
        (f"summary<|#|>1<|#|>\n{END}", {}),
        ("", {}),
        ("I cannot do that.", {}),
    ],
)
def test_clear_texts_are_read_and_others_dropped(reply: str, found: dict[int, str]) -> None:
    assert parse_summaries(reply, 3) == found
