from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.llm.formats.tuple_extraction import DELIMITER, END_MARKER, merge_gleaning, parse_tuples
from engine.models import Extraction, Link, Mention


def row(*fields: str) -> str:
    return DELIMITER.join(fields)


ALICE = Mention("Alice", "person", "Kept")
BOB = Mention("Bob", "person", "Also kept")
KNOWS = Link("Alice", "Bob", "knows,friends", "They met")
ALICE_ROW = row("entity", "Alice", "Person", "Kept")
BOB_ROW = row("entity", "Bob", "Person", "Also kept")
KNOWS_ROW = row("relation", "Alice", "Bob", "knows,friends", "They met")

NOTHING, ONLY_ALICE, BOTH = Extraction(), Extraction((ALICE,)), Extraction((ALICE, BOB))
ENDS = ["", "<|complete|>", "<|COMPLETE|>", "\n<|Complete|>\n", "<COMPLETE>", "\r\n"]
WRONG_LENGTHS = [
    *(row("entity"), row("entity", "Alice", "Person"), row("entity", "Alice", "Person", "Kept", "x", "y")),
    *(row("relation", "Alice", "Bob", "knows"), f"{KNOWS_ROW}{DELIMITER}9", row("person", "Alice", "Person", "Kept")),
]
SAME_ENDS = [("Alice", "Alice"), ('"Alice"', "Alice"), ("ALICE", "Alice"), ("", "A")]
PROSE = ["Here are the entities:", "**Output**", "```", "Sure! There is one relation.", ""]
TAGS = ['("entity"', "- entity", "1. Entity", "**entity**", "`entity`", "entity_1"]
THINKING = ["<think>{}</think>\n", "{}</think>", "<think>\n{}\n</think><think>again</think>", "<THINK>{}</THINK>"]


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        pytest.param(f"{ALICE_ROW}\n{BOB_ROW}\n{KNOWS_ROW}\n{END_MARKER}", Extraction((ALICE, BOB), (KNOWS,)), id="p1"),
        *(pytest.param(ALICE_ROW + end, ONLY_ALICE, id=f"p2 end {end!a}") for end in ENDS),
        *(pytest.param(wrong, NOTHING, id=f"p3 length {wrong}") for wrong in WRONG_LENGTHS),
        pytest.param(KNOWS_ROW.replace("relation", "entity"), Extraction((), (KNOWS,)), id="p4 entity of five fields"),
        *(pytest.param(row("relation", *ends, "is", "Same"), NOTHING, id=f"p5 ends {ends}") for ends in SAME_ENDS),
        pytest.param(ALICE_ROW.replace("Person", "Per|son"), NOTHING, id="p6 a wrong type"),
        pytest.param(ALICE_ROW.replace("Person", "Person, Engineer"), ONLY_ALICE, id="p6 several types"),
        pytest.param(row("entity", "Alice", "Person", " "), NOTHING, id="p7 blank description"),
        pytest.param(row("entity", "42", "Person", "x"), NOTHING, id="p7 short number as name"),
        pytest.param(row("entity", "420", "Person", "12"), Extraction((Mention("420", "person", "12"),)), id="p7 kept"),
        pytest.param(row("relation", "Alice", "Bob", "knows", '""'), NOTHING, id="p7 quotes as description"),
        pytest.param(f"  {ALICE_ROW.replace(DELIMITER, f' {DELIMITER} ')} \r\n\r\n", ONLY_ALICE, id="p11 blanks"),
        *(pytest.param(f"{prose}\n{ALICE_ROW}\n{prose}", ONLY_ALICE, id=f"p12 {prose}") for prose in PROSE),
        pytest.param(f"{ALICE_ROW}\n{ALICE_ROW}", Extraction((ALICE, ALICE)), id="p13 two mentions"),
        pytest.param(row(ALICE_ROW, BOB_ROW, KNOWS_ROW), Extraction((ALICE, BOB), (KNOWS,)), id="p14 one line"),
        pytest.param(row(KNOWS_ROW, ALICE_ROW), Extraction((ALICE,), (KNOWS,)), id="p14 one line, other order"),
        pytest.param(row(ALICE_ROW, "entity", "Torn", BOB_ROW), BOTH, id="p14 a broken record costs only itself"),
        *(pytest.param(row(tag, *ALICE_ROW.split(DELIMITER)[1:]), ONLY_ALICE, id=f"tag {tag}") for tag in TAGS),
        pytest.param('("entity"<|>"Alice"<|>"Person"<|>"Kept")', ONLY_ALICE, id="brackets and quotes"),
        *(pytest.param(form.format(BOB_ROW) + ALICE_ROW, ONLY_ALICE, id=f"thinking {form}") for form in THINKING),
        pytest.param("<think>" + BOB_ROW, NOTHING, id="cut off while thinking"),
    ],
)
def test_rows_are_parsed(reply: str, expected: Extraction) -> None:
    assert parse_tuples(reply) == expected


DAMAGED_DELIMITERS = r"<|> <|##|> <#> <|\#|> <|#> <#|> <|#| ||#|| |#|> <|#||#|> <||#||> <|| <>"
DAMAGED = DAMAGED_DELIMITERS.split()


@pytest.mark.parametrize("damaged", DAMAGED)
def test_p8_a_damaged_delimiter_is_repaired(damaged: str) -> None:
    assert parse_tuples(ALICE_ROW.replace(DELIMITER, damaged)) == ONLY_ALICE
    assert parse_tuples(KNOWS_ROW.replace(DELIMITER, damaged)) == Extraction((), (KNOWS,))


@given(st.lists(st.sampled_from([*DAMAGED, DELIMITER]), min_size=4, max_size=4))
def test_p8_any_mixture_of_damages_is_repaired(damage: list[str]) -> None:
    first, *fields = KNOWS_ROW.split(DELIMITER)
    assert parse_tuples(first + "".join(map(str.__add__, damage, fields))) == Extraction((), (KNOWS,))


LOOKS_LIKE_A_DELIMITER = (
    "form a <|> b used; if (x <|| y); if(x<||y); a<>b; x||y; see <#C0123|general>; C# | F# > VB; #1 |#2|"
)


@pytest.mark.parametrize("prose", LOOKS_LIKE_A_DELIMITER.split("; "))
def test_p9_a_description_may_hold_what_looks_like_a_delimiter(prose: str) -> None:
    assert parse_tuples(ALICE_ROW.replace("Kept", prose)) == Extraction((Mention("Alice", "person", prose),))


def test_p10_long_names_are_cut_alike_everywhere() -> None:
    reply = row("entity", "中" * 200, "Text", "long") + "\n" + row("relation", "中" * 200, "x" * 300, "k", "d")
    (mention,), (link,) = (found := parse_tuples(reply)).mentions, found.links
    assert (mention.name, link.source, link.target) == ("中" * 170, "中" * 170, "x" * 256)


@pytest.mark.parametrize("name", ["relational database", "Relation", "Entity", "relationship"])
def test_p15_a_name_may_be_a_tag_or_hold_one(name: str) -> None:
    record = row("entity", name, "Concept", "Kept")
    for reply, names in ((record, [name]), (row(ALICE_ROW, record, BOB_ROW), ["Alice", name, "Bob"])):
        assert [mention.name for mention in parse_tuples(reply).mentions] == names


PARTS = st.sampled_from([*DAMAGED, DELIMITER, END_MARKER, "entity", "relation", "Alice", "\n", "(", '"', "\ud800"])


@given(st.lists(PARTS))
def test_any_reply_gives_complete_facts_or_none(parts: list[str]) -> None:
    found = parse_tuples("".join(parts))
    assert all(mention.name and mention.type and mention.description for mention in found.mentions)
    assert all(link.source and link.target and link.description for link in found.links)


FIELD = st.text(st.characters(codec="utf-8", categories=["L", "Nd"]), min_size=4, max_size=12)


@settings(max_examples=30)
@given(st.lists(st.tuples(FIELD, FIELD), max_size=5), st.sampled_from([DELIMITER, "\n"]))
def test_one_line_reads_like_many(pairs: list[tuple[str, str]], joiner: str) -> None:
    rows = [row("entity", name, "Person", text) for name, text in pairs]
    assert len(parse_tuples(joiner.join(rows)).mentions) == len(parse_tuples("\n".join(rows)).mentions)


@pytest.mark.share(5)
@pytest.mark.parametrize("stuck", [*'|#<张 \n"', "<|", "|#", "<|#", "<think>", "entity", DELIMITER])
def test_a_model_that_got_stuck_is_read_in_linear_time(stuck: str) -> None:
    started = time.process_time()
    parse_tuples(ALICE_ROW + stuck * (60_000 // len(stuck)) + "张")
    assert time.process_time() - started < 2


BETTER = Mention("ALICE", "person", "Kept, and longer")
LONGER = Link("bob", "alice", "met", "They met at length")
FULL = Extraction((ALICE, BOB, ALICE), (KNOWS,))


@pytest.mark.parametrize(
    ("first", "second", "merged"),
    [
        pytest.param(ONLY_ALICE, Extraction((BOB,), (KNOWS,)), Extraction((ALICE, BOB), (KNOWS,)), id="new facts"),
        pytest.param(FULL, Extraction((BETTER, ALICE)), Extraction((BOB, BETTER, ALICE), (KNOWS,)), id="longer first"),
        pytest.param(
            BOTH, Extraction((Mention("Alice", "robot", "K"), Mention("Bob", "x", "9 letters"))), BOTH, id="equal"
        ),
        pytest.param(Extraction((), (KNOWS,)), Extraction((), (LONGER,)), Extraction((), (LONGER,)), id="longer link"),
        pytest.param(Extraction((), (LONGER,)), Extraction((), (KNOWS,)), Extraction((), (LONGER,)), id="shorter link"),
        pytest.param(FULL, NOTHING, FULL, id="nothing new"),
        pytest.param(NOTHING, FULL, FULL, id="nothing before"),
        pytest.param(FULL, FULL, FULL, id="the same"),
    ],
)
def test_g1_gleaning_adds_facts_and_prefers_longer_descriptions(
    first: Extraction, second: Extraction, merged: Extraction
) -> None:
    assert merge_gleaning(first, second) == merged


FACTS = f"{ALICE_ROW}\n{BOB_ROW}\n{KNOWS_ROW}"
TRANSLATED = [
    "Entität Beziehung",
    "entidad relación",
    "entité relation",
    "entidade relação",
    "エンティティ 関係",
    "实体 关系",
]


@pytest.mark.parametrize("tags", [*TRANSLATED, "entities relationships"])
def test_tags_in_another_language_are_tags(tags: str) -> None:
    entity, relation = tags.split()
    reply = FACTS.replace("entity<", f"{entity}<").replace("relation<", f"{relation}<")
    assert parse_tuples(reply) == Extraction((ALICE, BOB), (KNOWS,))


@pytest.mark.parametrize(
    "delimiter",
    ["&lt;|#|&gt;", "<｜#｜>", "＜|#|＞", "<| # |>", "<\\|#\\|>", "<|#", "<|#|>>", "<<|#|>", "<|S|>", "<|*|>"],
)
def test_a_delimiter_that_is_damaged_everywhere_is_read(delimiter: str) -> None:
    assert parse_tuples(FACTS.replace(DELIMITER, delimiter)) == Extraction((ALICE, BOB), (KNOWS,))


def test_names_of_fields_in_the_instructions_are_no_facts() -> None:
    echoed = (
        row("entity", "{entity_name}", "entity_type", "entity_description"),
        row("relation", "source_entity", "target_entity", "relationship_keywords", "relationship_description"),
    )
    assert parse_tuples("\n".join((*echoed, ALICE_ROW))) == ONLY_ALICE
