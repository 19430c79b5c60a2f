from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.formats.tuple_extraction import merge_gleaning, parse_tuples
from engine.llm.formats.tuple_repair import DELIMITER, END_MARKER
from engine.models import Extraction, Link, Mention

ALICE = Mention("Alice", "person", "Kept")
BOB = Mention("Bob", "person", "Also kept")
KNOWS = Link("Alice", "Bob", "knows,friends", "They met")

ALICE_ROW = ("entity", "Alice", "Person", "Kept")
BOB_ROW = ("entity", "Bob", "Person", "Also kept")
KNOWS_ROW = ("relation", "Alice", "Bob", "knows,friends", "They met")


def row(*fields: str) -> str:
    return DELIMITER.join(fields)


def names(reply: str) -> list[str]:
    return [mention.name for mention in parse_tuples(reply).mentions]


def test_p1_entities_and_relations_are_read() -> None:
    reply = "\n".join(
        [
            row("entity", "Alice", "Person", "Alice works at Acme."),
            row("entity", "Acme", "Organization", "Acme makes anvils."),
            row("relation", "Alice", "Acme", "works at,employment", "Alice is employed by Acme."),
            END_MARKER,
        ]
    )
    assert parse_tuples(reply) == Extraction(
        (
            Mention("Alice", "person", "Alice works at Acme."),
            Mention("Acme", "organization", "Acme makes anvils."),
        ),
        (Link("Alice", "Acme", "works at,employment", "Alice is employed by Acme."),),
    )


@pytest.mark.parametrize("end", ["", "<|complete|>", "<|COMPLETE|>", "\n<|Complete|>\n", "<COMPLETE>", "\r\n"])
def test_p2_the_end_mark_may_be_missing_or_glued_to_the_row(end: str) -> None:
    assert parse_tuples(row(*ALICE_ROW) + end) == Extraction((ALICE,))


@pytest.mark.parametrize(
    "fields",
    [
        ("entity", "Alice", "Person"),
        ("entity",),
        ("relation", "Alice", "Bob", "knows"),
        ("relation", "Alice", "Bob", "knows", "They met", "9"),
        ("entity", "Alice", "Person", "Kept", "x", "y"),
        ("person", "Alice", "Person", "Kept"),
    ],
)
def test_p3_rows_of_another_length_are_dropped(fields: tuple[str, ...]) -> None:
    assert parse_tuples(row(*fields)) == Extraction()


def test_p4_an_entity_of_five_fields_is_a_relation() -> None:
    assert parse_tuples(row("entity", "Alice", "Acme", "founded", "text")).links == (
        Link("Alice", "Acme", "founded", "text"),
    )


@pytest.mark.parametrize(
    ("source", "target"), [("Alice", "Alice"), ('"Alice"', "Alice"), ("ALICE", "Alice"), ("", "A")]
)
def test_p5_a_relation_needs_two_different_ends(source: str, target: str) -> None:
    assert parse_tuples(row("relation", source, target, "is", "The same")) == Extraction()


@pytest.mark.parametrize(
    ("written", "kept"),
    [
        ("Per|son", None),
        ("a/b", None),
        ("(x)", None),
        ("constructor", None),
        ("", None),
        ("Person, Engineer", "person"),
        ("Natural Object", "naturalobject"),
    ],
)
def test_p6_types_are_cleaned_or_drop_the_entity(written: str, kept: str | None) -> None:
    found = parse_tuples(row("entity", "Alice", written, "Kept")).mentions
    assert [mention.type for mention in found] == ([kept] if kept else [])


def test_p7_blank_descriptions_and_bare_numbers_are_dropped() -> None:
    rows = [
        row("entity", name, "Person", text) for name, text in [("Alice", " "), ("42", "x"), ("420", "x"), ("B", "12")]
    ]
    assert names("\n".join(rows)) == ["420", "B"]
    assert parse_tuples(row("relation", "Alice", "Bob", "knows", '""')) == Extraction()


DAMAGED = [
    "<|>",
    "<|##|>",
    "<#>",
    r"<|\#|>",
    "<|#>",
    "<#|>",
    "<|#|",
    "||#||",
    "|#|>",
    "<|#||#|>",
    "<||#||>",
    "<||",
    "<>",
]


@pytest.mark.parametrize("damaged", DAMAGED)
def test_p8_a_damaged_delimiter_is_repaired(damaged: str) -> None:
    assert parse_tuples(damaged.join(ALICE_ROW)) == Extraction((ALICE,))
    assert parse_tuples(damaged.join(KNOWS_ROW)) == Extraction((), (KNOWS,))


@given(st.lists(st.sampled_from([*DAMAGED, DELIMITER]), min_size=4, max_size=4))
def test_p8_a_missing_pipe_is_repaired_whatever_else_is_damaged(damage: list[str]) -> None:
    reply = KNOWS_ROW[0] + "".join(map(str.__add__, damage, KNOWS_ROW[1:]))
    assert parse_tuples(reply) == Extraction((), (KNOWS,))


@pytest.mark.parametrize(
    "prose",
    [
        "form a <|> b used",
        "if (x <|| y)",
        "if(x<||y)",
        "a<>b",
        "x||y",
        "see <#C0123|general>",
        "C# | F# > VB",
        "#1 |#2|",
    ],
)
def test_p9_a_description_may_hold_what_looks_like_a_delimiter(prose: str) -> None:
    assert parse_tuples(row("entity", "Alice", "Person", prose)) == Extraction((Mention("Alice", "person", prose),))


def test_p10_long_names_are_cut_alike_everywhere() -> None:
    reply = row("entity", "中" * 200, "Text", "long") + "\n" + row("relation", "中" * 200, "x" * 300, "k", "d")
    found = parse_tuples(reply)
    assert found.mentions[0].name == found.links[0].source == "中" * 170
    assert found.links[0].target == "x" * 256


def test_p11_blanks_around_fields_and_windows_line_ends_do_not_matter() -> None:
    assert parse_tuples(f"  {' <|#|> '.join(ALICE_ROW)} \r\n\r\n{row(*KNOWS_ROW)}\r\n") == Extraction(
        (ALICE,), (KNOWS,)
    )


@pytest.mark.parametrize("prose", ["Here are the entities:", "**Output**", "```", "Sure! There is one relation.", ""])
def test_p12_prose_before_and_after_the_rows_is_ignored(prose: str) -> None:
    assert parse_tuples(f"{prose}\n{row(*ALICE_ROW)}\n{prose}") == Extraction((ALICE,))


def test_p13_the_same_entity_twice_gives_two_mentions() -> None:
    again = row("entity", "alice", "Person", "More")
    assert parse_tuples(f"{row(*ALICE_ROW)}\n{again}").mentions == (ALICE, Mention("alice", "person", "More"))


def test_p14_records_on_one_line_are_parted() -> None:
    assert parse_tuples(row(*ALICE_ROW, *BOB_ROW, *KNOWS_ROW)) == Extraction((ALICE, BOB), (KNOWS,))
    assert parse_tuples(row(*KNOWS_ROW, *ALICE_ROW)) == Extraction((ALICE,), (KNOWS,))


def test_p14_a_broken_record_on_a_line_costs_only_itself() -> None:
    assert parse_tuples(row(*ALICE_ROW, "entity", "Torn", *BOB_ROW)) == Extraction((ALICE, BOB))


@pytest.mark.parametrize("name", ["relational database", "Relation", "Entity", "relationship"])
def test_p15_a_name_may_be_a_tag_or_hold_one(name: str) -> None:
    assert names(row("entity", name, "Concept", "Kept")) == [name]
    assert names(row(*ALICE_ROW, "entity", name, "Concept", "Kept", *BOB_ROW)) == ["Alice", name, "Bob"]


@pytest.mark.parametrize("tag", ['("entity"', "- entity", "1. Entity", "**entity**", "`entity`", "entity_1"])
def test_the_tag_may_be_decorated(tag: str) -> None:
    assert names(row(tag, *ALICE_ROW[1:])) == ["Alice"]


def test_a_row_in_brackets_and_quotes_is_read() -> None:
    assert parse_tuples('("entity"<|>"Alice"<|>"Person"<|>"Kept")') == Extraction((ALICE,))


@pytest.mark.parametrize(
    "thinking",
    ["<think>{}</think>\n", "{}</think>", "<think>\n{}\n</think><think>again</think>", "<THINK>{}</THINK>"],
)
def test_thoughts_are_no_part_of_the_reading(thinking: str) -> None:
    assert parse_tuples(thinking.format(row(*BOB_ROW)) + row(*ALICE_ROW)) == Extraction((ALICE,))


def test_a_reply_cut_off_while_thinking_says_nothing() -> None:
    assert parse_tuples("<think>" + row(*BOB_ROW)) == Extraction()


@given(
    st.lists(
        st.sampled_from([*DAMAGED, DELIMITER, END_MARKER, "entity", "relation", "Alice", "\n", "(", '"', "\ud800"])
    )
)
def test_no_reply_is_too_broken_to_be_read(parts: list[str]) -> None:
    found = parse_tuples("".join(parts))
    assert all(mention.name and mention.type and mention.description for mention in found.mentions)
    assert all(link.source and link.target and link.description for link in found.links)


FIELD = st.text(st.characters(codec="utf-8", categories=["L", "Nd"]), min_size=4, max_size=12)


@given(st.lists(st.tuples(FIELD, FIELD), max_size=5), st.booleans())
def test_one_line_reads_like_many(pairs: list[tuple[str, str]], one: bool) -> None:  # noqa: FBT001 - hypothesis draws it
    rows = [row("entity", name, "Person", text) for name, text in pairs]
    assert len(parse_tuples((DELIMITER if one else "\n").join(rows)).mentions) == len(
        parse_tuples("\n".join(rows)).mentions
    )


class TestG1Gleaning:
    def test_what_is_new_is_added(self) -> None:
        assert merge_gleaning(Extraction((ALICE,)), Extraction((BOB,), (KNOWS,))) == Extraction((ALICE, BOB), (KNOWS,))

    def test_the_longer_first_description_replaces_all_of_the_name(self) -> None:
        better = Mention("ALICE", "person", "Kept, and longer")
        first = Extraction((ALICE, BOB, Mention("Alice", "person", "A second and very long description")))
        assert merge_gleaning(first, Extraction((better, ALICE))) == Extraction((BOB, better, ALICE))

    def test_a_shorter_or_equal_one_is_ignored(self) -> None:
        second = Extraction((Mention("Alice", "robot", "K"), Mention("Bob", "robot", "Also  ept")))
        assert merge_gleaning(Extraction((ALICE, BOB)), second) == Extraction((ALICE, BOB))

    def test_a_pair_is_the_same_in_both_directions(self) -> None:
        longer = Link("bob", "alice", "met", "They met at length")
        assert merge_gleaning(Extraction((), (KNOWS,)), Extraction((), (longer,))).links == (longer,)
        assert merge_gleaning(Extraction((), (longer,)), Extraction((), (KNOWS,))).links == (longer,)

    def test_gleaning_nothing_changes_nothing(self) -> None:
        full = Extraction((ALICE, BOB, ALICE), (KNOWS,))
        assert (
            merge_gleaning(full, Extraction())
            == full
            == merge_gleaning(Extraction(), full)
            == merge_gleaning(full, full)
        )


@pytest.mark.parametrize(
    "stuck", ["|", "#", "<", "<|", "|#", "<|#", " ", "\n", '"', "张", "<think>", DELIMITER, "entity"]
)
def test_a_model_that_got_stuck_is_read_in_linear_time(stuck: str) -> None:
    started = time.perf_counter()
    parse_tuples(row(*ALICE_ROW) + stuck * (60_000 // len(stuck)) + "张")
    assert time.perf_counter() - started < 2
