from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.json_extraction import parse_json_extraction
from engine.llm.formats.shared_extraction import has_misattributed_facts, split_json_by_excerpt, split_rows_by_excerpt
from engine.llm.formats.tuple_extraction import parse_tuples
from engine.models import Excerpt, Extraction, Link, Mention

END = "<|COMPLETE|>"
ADA = "entity<|#|>Ada<|#|>Person<|#|>Ada rows."
BOB = "entity<|#|>Bob<|#|>Person<|#|>Bob bakes."


def names(reply: str, count: int = 3) -> dict[int, list[str]]:
    return {
        n: [each.name for each in parse_tuples(text).mentions]
        for n, text in split_rows_by_excerpt(reply, count).items()
    }


def lines(*rows: str) -> str:
    return "\n".join(rows)


@pytest.mark.parametrize(
    ("reply", "found"),
    [
        (lines("excerpt<|#|>1", ADA, "excerpt<|#|>2", BOB, END), {1: ["Ada"], 2: ["Bob"]}),
        (lines("excerpt<|#|>1", "excerpt<|#|>2", BOB, "excerpt<|#|>3", END), {1: [], 2: ["Bob"], 3: []}),
        (lines("excerpt<|#|>1", ADA, END, "excerpt<|#|>2", BOB, END), {1: ["Ada"], 2: ["Bob"]}),
        (lines("(excerpt<|#|>1)", f"({ADA})", END), {1: ["Ada"]}),
        (lines("**Excerpt 1:**", ADA, "Excerpt #2", BOB, END), {1: ["Ada"], 2: ["Bob"]}),
        (lines("Here are the rows:", "```", "excerpt<|#|>1", ADA, END, "```"), {1: ["Ada"]}),
        (lines(f"excerpt<|#|>1<|#|>{ADA}", END), {1: ["Ada"]}),
        (lines("excerpt<|#>1", ADA, END), {1: ["Ada"]}),
        (lines("<think>excerpt<|#|>9</think>excerpt<|#|>1", ADA, END), {1: ["Ada"]}),
        # Cut off: the last one may lack something.
        (lines("excerpt<|#|>1", ADA, "excerpt<|#|>2", "entity<|#|>Bob<|#|>Per"), {1: ["Ada"]}),
        (lines("excerpt<|#|>1", ADA, END, "excerpt<|#|>2", "entity<|#|>Bob<|#|>Per"), {1: ["Ada"]}),
        (lines("excerpt<|#|>1", ADA), {}),
        # Not to be trusted.
        (lines(ADA, "excerpt<|#|>2", BOB, END), {}),
        (lines("excerpt<|#|>1", ADA, "excerpt<|#|>1", BOB, END), {}),
        (lines("excerpt<|#|>2", BOB, "excerpt<|#|>1", ADA, END), {}),
        (lines("excerpt<|#|>1", ADA, "excerpt<|#|>4", BOB, END), {}),
        (lines("excerpt<|#|>0", ADA, END), {}),
        (lines(ADA, BOB, END), {}),
        ("I cannot do that.", {}),
        ("", {}),
    ],
)
def test_rows_are_parted_by_excerpt_and_odd_numbers_are_not_trusted(reply: str, found: dict[int, list[str]]) -> None:
    assert names(reply) == found


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
def test_the_same_in_json(reply: str, found: dict[int, list[str]]) -> None:
    parted = split_json_by_excerpt(reply, 3)
    assert {n: [each.name for each in parse_json_extraction(text).mentions] for n, text in parted.items()} == found


FERRY = Excerpt("[2026-05-04 06:10] Ines Dalgarno: the Gudgeon leaves at noon, 250 seats.")
BAKERY = Excerpt("[2026-05-04 07:52] Ottoline Varr: Bo bakes bread.", "The Third Loaf")


def told(name: str, description: str, *links: Link) -> Extraction:
    return Extraction((Mention(name, "thing", description),), links)


@pytest.mark.parametrize(
    ("ferry", "is_mixed"),
    [
        (told("Gudgeon", "The Gudgeon leaves at noon."), False),
        (told("Harbour", "A harbour from which boats leave on Monday."), False),  # a paraphrase, of neither
        (told("Bo", "Bo bakes."), True),
        (told("Gudgeon", "The Gudgeon carries bread to Ottoline."), True),
        (told("Third Loaf", "A bakery."), True),
        (told("Gudgeon", "A boat.", Link("Gudgeon", "Ottoline Varr", "boat", "They meet.")), True),
        (told("Gudgeon", "A boat with 250 seats."), False),
    ],
)
def test_what_only_another_excerpt_says_is_noticed(ferry: Extraction, is_mixed: bool) -> None:  # noqa: FBT001
    bakery = told("Bo", "Bo bakes bread at The Third Loaf.")
    assert has_misattributed_facts([FERRY, BAKERY], {1: ferry, 2: bakery}) == is_mixed


def test_a_number_of_another_excerpt_is_noticed() -> None:
    assert has_misattributed_facts([FERRY, BAKERY], {2: told("Bo", "Bo bakes 250 loaves.")})
