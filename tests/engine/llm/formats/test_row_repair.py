from __future__ import annotations

import pytest

from engine.llm.formats.outcomes import Outcome, judge_extraction
from engine.llm.formats.tuple_extraction import DELIMITER, parse_tuples
from engine.models import Extraction, Link, Mention

LAMP = Mention("Lamp Guild", "organization", "Lamp Guild lights the quay.")
DEBT = Mention("Lamp Debt", "other", "Money that the guild owes to the town")
LIGHTS = Link("Lamp Guild", "Quay", "lighting", "Lamp Guild lights the Quay.")
PLAIN = Link("Lamp Guild", "Quay", "", "Lamp Guild lights the Quay.")


def row(text: str) -> str:
    return text.replace(" ~ ", DELIMITER)


ENTITY = "Lamp Guild ~ Organization ~ Lamp Guild lights the quay."
RELATION = "Lamp Guild ~ Quay ~ lighting ~ Lamp Guild lights the Quay."
GLUED = ["entity<", "entity>", "entity|", "entity: ", "Entity - ", "entity #", "entity ", "**entity** ", "- entity<|"]


@pytest.mark.parametrize("start", GLUED)
def test_a_delimiter_damaged_after_the_tag_costs_no_fact(start: str) -> None:
    assert parse_tuples(row(start + ENTITY)) == Extraction((LAMP,))


@pytest.mark.parametrize("start", ["relation<", "relation>", "relationship: ", "relation "])
def test_nor_does_one_after_the_tag_of_a_relation(start: str) -> None:
    assert parse_tuples(row(start + RELATION)) == Extraction((), (LIGHTS,))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("entity ~ Lamp Debt ~ Money that the guild owes to the town", DEBT, id="no type"),
        pytest.param(ENTITY, LAMP, id="no tag"),
        pytest.param(
            "entity ~ Lamp Guild ~ Organization ~ Organization ~ Lamp Guild lights the quay.", LAMP, id="type twice"
        ),
        pytest.param(
            "entity ~ Lamp Guild ~ Organization ~ Lamp Guild ~ lights the quay.", LAMP, id="a delimiter in the text"
        ),
        pytest.param("entity | Lamp Guild | Organization | Lamp Guild lights the quay.", LAMP, id="pipes"),
        pytest.param("| entity | Lamp Guild | Organization | Lamp Guild lights the quay. |", LAMP, id="table"),
        pytest.param(
            "entity ~ Lamp Guild (Organization) ~ Lamp Guild lights the quay.", LAMP, id="the type beside the name"
        ),
        pytest.param("entity ~ Lamp Debt ~  ~ Money that the guild owes to the town", DEBT, id="an empty type"),
        pytest.param("entity|#|Lamp Guild|#|Organization|#|Lamp Guild lights the quay.", LAMP, id="without brackets"),
        pytest.param(
            "entity ~ Lamp Guild\n ~ Organization\n ~ Lamp Guild lights the quay.".replace("\n ~ ", "\n<|#|>"),
            LAMP,
            id="a field a line",
        ),
        pytest.param("relation ~ Lamp Guild ~ Quay ~ Lamp Guild lights the Quay.", PLAIN, id="no keywords"),
        pytest.param(
            "relation ~ Lamp Guild ~ Quay ~ lighting ~ lighting ~ Lamp Guild lights the Quay.",
            LIGHTS,
            id="keywords twice",
        ),
        pytest.param(
            "relation ~ Lamp Guild ~ Quay ~ lighting ~ Lamp Guild lights the Quay. ~ 8", LIGHTS, id="a weight"
        ),
        pytest.param(
            "relationship ~ Lamp Guild ~ Quay ~ Lamp Guild lights the Quay. ~ lighting ~ 8", LIGHTS, id="former order"
        ),
        pytest.param(RELATION, LIGHTS, id="a relation without a tag"),
        pytest.param(
            "relation ~ 灯会 ~ 码头 ~ 灯会照亮了整个码头",
            Link("灯会", "码头", "", "灯会照亮了整个码头"),
            id="no blanks",
        ),
    ],
)
def test_a_row_of_another_length_gives_its_fact_where_that_is_plain(text: str, expected: Mention | Link) -> None:
    facts = Extraction((expected,)) if isinstance(expected, Mention) else Extraction((), (expected,))
    assert parse_tuples(row(text)) == facts


@pytest.mark.parametrize(
    "text",
    [
        *("entity ~ Lamp Guild", "entity ~ Lamp Guild ~ Organization", "relation ~ Lamp Guild ~ Quay"),
        *("relation ~ Lamp Guild ~ lighting ~ Lamp Guild lights the Quay.", "entity, relation, and so on, are words"),
        *("relation ~ Lamp Guild ~ Quay ~ lighting", "relation ~ Lamp Guild ~ Quay ~ 9", "note ~ a ~ b ~ c"),
        *("relation ~ Lamp Guild ~ Quay ~ trade, supply chain", "Lamp Guild ~ Quay ~ Rope ~ Tar is sold here."),
        *("entity", "entities: none", "The entity Lamp Guild lights the quay.", "relation ~ a ~ b" + " ~ c" * 20),
    ],
)
def test_an_unclear_row_stays_dropped(text: str) -> None:
    assert parse_tuples(row(text)) == Extraction()


def test_several_ends_give_one_relation_that_names_them_all() -> None:
    found = parse_tuples(row("relation ~ Vote ~ Yes ~ No ~ result ~ A Vote of the guild ends with Yes or No."))
    assert found.links == (Link("Vote", "Yes", "No,result", "A Vote of the guild ends with Yes or No."),)


def test_rows_without_a_line_break_between_them_are_two() -> None:
    assert parse_tuples(row(f"entity ~ {ENTITY}relation ~ {RELATION}")) == Extraction((LAMP,), (LIGHTS,))


def test_a_torn_record_within_a_line_is_repaired_too() -> None:
    line = row(f"entity ~ {ENTITY} ~ relation ~ Lamp Guild ~ Quay ~ Lamp Guild lights the Quay. ~ entity ~ {ENTITY}")
    assert parse_tuples(line) == Extraction((LAMP, LAMP), (PLAIN,))


@pytest.mark.parametrize(
    "reply",
    [
        "entity,Lamp Guild,Organization,It lights the quay, and the bridge.",
        'entity;Lamp Guild;Organization;"It lights the quay, and the bridge."',
        "entity###Lamp Guild###Organization###It lights the quay, and the bridge.",
        "entity::Lamp Guild::Organization::It lights the quay, and the bridge.",
    ],
)
def test_a_row_with_another_separator_is_one(reply: str) -> None:
    assert parse_tuples(reply) == Extraction(
        (Mention("Lamp Guild", "organization", "It lights the quay, and the bridge."),)
    )


def test_a_relation_with_commas_is_one_where_it_names_its_ends() -> None:
    assert parse_tuples("relation,Lamp Guild,Quay,lighting,Lamp Guild lights the Quay.") == Extraction((), (LIGHTS,))
    assert parse_tuples("relation,Lamp Guild,Quay,lighting,It is old, and long.") == Extraction()


def test_rows_of_the_former_format_may_stand_on_one_line() -> None:
    reply = row('("entity" ~ "Lamp Guild" ~ "Organization" ~ "old")##("entity" ~ "Quay" ~ "Location" ~ "long")')
    assert [mention.name for mention in parse_tuples(reply).mentions] == ["Lamp Guild", "Quay"]


@pytest.mark.parametrize("joint", ["<br>", "; ", " ", "##"])
def test_rows_may_be_joined_by_other_marks(joint: str) -> None:
    rows = row("entity ~ Quay ~ Location ~ It is long."), row("entity ~ Tar ~ Artifact ~ It is sold.")
    assert [mention.name for mention in parse_tuples(joint.join(rows)).mentions] == ["Quay", "Tar"]


def test_a_relation_may_have_both_ends_in_one_field() -> None:
    text = "relation ~ Lamp Guild -> Quay ~ lighting ~ Lamp Guild lights the Quay."
    assert parse_tuples(row(text)) == Extraction((), (LIGHTS,))


def test_numbered_rows_with_another_separator_are_rows() -> None:
    assert [mention.name for mention in parse_tuples("Entity 1: Quay | Location | It is long.").mentions] == ["Quay"]


LITERALS = """
('entity', 'Lamp Guild', 'Organization', 'Lamp Guild lights the quay.')
["entity", "Lamp Guild", "Organization", "Lamp Guild lights the quay."],
entities = [⏎  ("Lamp Guild", "Organization", "Lamp Guild lights the quay."),⏎]
[("entity", "Lamp Guild", 'Organization', "Lamp Guild lights the quay.",)]
"entity<|#|>Lamp Guild<|#|>Organization<|#|>Lamp Guild lights the quay."
{"output": "entity<|#|>Lamp Guild<|#|>Organization<|#|>Lamp Guild lights the quay."}
{'type': 'entity', 'name': 'Lamp Guild', 'entity_type': 'Organization', 'description': 'Lamp Guild lights the quay.'}
```⏎entities = [{'name': 'Lamp Guild', 'type': 'Organization', 'description': 'Lamp Guild lights the quay.'}]⏎```
const entities = [{name: 'Lamp Guild', type: 'Organization', description: 'Lamp Guild lights the quay.'}];
(“entity”, “Lamp Guild”, “Organization”, “Lamp Guild lights the quay.”)
Entities: [("Lamp Guild", "Organization", "Lamp Guild lights the quay.")]
| ("entity", "Lamp Guild", "Organization", "Lamp Guild lights the quay.") |
**Entity 1:** {"name": "Lamp Guild", "type": "Organization", "description": "Lamp Guild lights the quay."}
{"entities": [["Lamp Guild", "Organization", "Lamp Guild lights the quay."]], "relations": []}
entity ~ Lamp Guild ~ Organization ~ Lamp Guild lights the quay.
entity<❘#❘>Lamp Guild<❘#❘>Organization<❘#❘>Lamp Guild lights the quay.
сущность<|#|>Lamp Guild<|#|>Organization<|#|>Lamp Guild lights the quay.
"""


@pytest.mark.parametrize("reply", LITERALS.strip().split("\n"))
def test_rows_in_the_notation_of_a_program_are_facts(reply: str) -> None:
    found = judge_extraction(reply.replace("⏎", "\n") + "\n<|COMPLETE|>", "tuples").extraction
    assert found == Extraction((LAMP,))


def test_rows_in_one_line_need_no_point_between_them() -> None:
    joined = row("entity ~ Lamp Debt ~ Money that the guild owes to the town relation ~ " + RELATION.rstrip("."))
    found = parse_tuples(joined)
    assert (found.mentions, len(found.links)) == ((DEBT,), 1)


@pytest.mark.parametrize(
    "reply",
    [
        'print("entity", "Lamp Guild", "Organization", "Lamp Guild lights the quay.")',
        'nlp("Lamp Guild", "lights", "the quay")',
        '("one", "two", "three")',
        'The words ("lamp", "oil", "wick") are short.',
        "INSERT INTO guilds VALUES ('Lamp Guild', 'organization', 'lights the old quay');",
        'He gave ("Lamp Guild", "organization", "It lights the quay.") as an example of a row.',
        '("Lamp Guild", "organization", "It lights the quay.") would be a row.',
        'Use ("entity", "name", "type", "description") for each row.',
        '("entity", "name", "type", "description")',
        'def read(text): return ["Lamp Guild", "Quay", "lighting", "Lamp Guild lights the Quay"]',
        'log.info ("entity", "Lamp Guild", "organization", "It lights the quay.")',
        'x = rows[("entity", "Lamp Guild", "organization", "It lights the quay.")]',
        'Error: {"title": "Bad request", "description": "The prompt is too long"}',
        'Call this: {"name": "extract", "description": "Extracts entities"}',
        '{"name": "extract", "description": "Extracts entities", "parameters": {"type": "object"}}',
        """json.loads('{"name": "Lamp Guild", "description": "a guild"}')""",
    ],
)
def test_other_tuples_and_objects_are_none(reply: str) -> None:
    assert judge_extraction(reply, "tuples").outcome is Outcome.ROWLESS


def test_lists_of_rows_within_an_object_are_read() -> None:
    entities = '[["Lamp Guild", "Organization", "It is old."], ["Quay", "Location", "It is long."]]'
    link = '["Lamp Guild", "Quay", "lighting", "Lamp Guild lights the Quay."]'
    found = parse_tuples(f'{{"entities": {entities}, "relations": [{link}]}}')
    assert ([mention.name for mention in found.mentions], found.links) == (["Lamp Guild", "Quay"], (LIGHTS,))


def test_escaped_quotes_of_a_literal_row_are_read() -> None:
    reply = r"""("entity", "O'Hara", "Person", "O'Hara lit \"the\" quay.")"""
    assert parse_tuples(reply) == Extraction((Mention("O'Hara", "person", 'O\'Hara lit "the" quay.'),))
