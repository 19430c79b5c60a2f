from __future__ import annotations

import pytest

from engine.llm.formats.tuple_extraction import parse_tuples
from engine.models import Extraction, Link, Mention

LAMP = Mention("Lamp Guild", "organization", "lights the quay.")
QUAY = Mention("Quay", "location", "is long.")
LIGHTS = Link("Lamp Guild", "Quay", "", "lights it.")

LISTS = [
    (
        "### Entities\n- **Lamp Guild** (Organization): lights the quay.\n- **Quay** (Location): is long.\n\n"
        "### Relationships\n- Lamp Guild → Quay: lights it."
    ),
    (
        "**Entities:**\n\n1. **Lamp Guild** (Organization) - lights the quay.\n2. Quay (Location): is long.\n"
        "**Relations**\n1. **Lamp Guild** -> **Quay**: lights it."
    ),
    (
        "Entities found in the text:\n* Lamp Guild (Organization): lights the quay.\n* `Quay` (Location): is long.\n"
        "Relationships:\n* Lamp Guild - Quay: lights it."
    ),
]
FOREIGN = [
    (
        f"### {entities}\n\n#### **Organization**\n- **Lamp Guild**：lights the quay.\n\n#### Location\n"
        "- Quay: is long.\n\n"
        f"### {relations}\n- Lamp Guild → Quay：lights it."
    )
    for entities, relations in [("识别的实体", "关系"), ("Entitäten", "Beziehungen"), ("エンティティ", "関係")]
]
LABELED = [
    (
        "1.  Entity: Lamp Guild\n    * Entity Name: Lamp Guild\n    * Entity Type: Organization\n"
        "    * Entity Description: lights the quay.\n2.  Entity: Quay\n    * Entity Name: Quay\n"
        "    * Entity Type: Location\n    * Entity Description: is long.\n"
        "3. Relationship\n * Source Entity: Lamp Guild\n * Target Entity: Quay\n * Relationship Description: lights it."
    ),
    (
        "**Name:** Lamp Guild\n**Type:** Organization\n**Description:** lights the quay.\n\n"
        "**Name:** Quay\n**Type:** Location\n**Description:** is long.\n\n"
        "**From:** Lamp Guild\n**To:** Quay\n**Description:** lights it."
    ),
]


NUMBERED = (
    "**Entity 1: Lamp Guild**\n- Type: Organization\n- Description: lights the quay.\n"
    "**Entity 2: Quay**\n- Type: Location\n- Description: is long.\n- Source: Lamp Guild\n- Target: Quay\n"
    "- Description: lights it."
)


@pytest.mark.parametrize("reply", [*LISTS, *LABELED, NUMBERED])
def test_lists_and_labeled_fields_give_their_facts(reply: str) -> None:
    assert parse_tuples(reply) == Extraction((LAMP, QUAY), (LIGHTS,))


@pytest.mark.parametrize(
    "reply",
    [
        *("I am ready. Please provide the text.", "", "null", "```python\nimport spacy\n```", "### Entities\n\nNone."),
        *("Steps:\n- Read the text: carefully.\n- List names: all of them.", "### Entities\n- Lamp Guild\n- Quay"),
        *("Name: Lamp Guild", "I'm sorry, but I can't help with that: it is private."),
    ],
)
def test_prose_gives_none(reply: str) -> None:
    assert parse_tuples(reply) == Extraction()


def test_rows_outrank_lists() -> None:
    row = "entity<|#|>Rope<|#|>Artifact<|#|>Rope is sold."
    assert parse_tuples(f"{LISTS[0]}\n{row}") == Extraction((Mention("Rope", "artifact", "Rope is sold."),))


OTHER_FORMS = [
    (
        "| Entity | Type | Description |\n|---|---|---|\n| Lamp Guild | Organization | lights the quay. |\n"
        "| Quay | Location | is long. |\n\n"
        "| Source | Target | Description |\n|:--|:--|:--|\n| Lamp Guild | Quay | lights it. |"
    ),
    (
        "name,type,description\nLamp Guild,Organization,lights the quay.\nQuay,Location,is long.\n\n"
        "source,target,description\nLamp Guild,Quay,lights it."
    ),
    (
        "<entities><entity><name>Lamp Guild</name><type>Organization</type><description>lights the quay.</description>"
        '</entity><entity name="Quay" type="Location">is long.</entity></entities>\n'
        '<relation source="Lamp Guild" target="Quay" description="lights it."/>'
    ),
    (
        "# Entities\n## Lamp Guild\n- Type: Organization\n- Description: lights the quay.\n\n"
        "## Quay\n- Type: Location\n- Description: is long.\n\n"
        "- Source: Lamp Guild\n- Target: Quay\n- Description: lights it."
    ),
    (
        "Entity: Lamp Guild, type: Organization, description: lights the quay.\n"
        "Entity: Quay, type: Location, description: is long.\n"
        "Source: Lamp Guild, target: Quay, description: lights it."
    ),
    (
        "**Entities**\n1. Lamp Guild - Organization - lights the quay.\n2. Quay – Location – is long.\n"
        "**Relations**\n1. Lamp Guild → Quay: lights it."
    ),
]


@pytest.mark.parametrize("reply", OTHER_FORMS)
def test_tables_and_elements_give_their_facts(reply: str) -> None:
    assert parse_tuples(reply) == Extraction((LAMP, QUAY), (LIGHTS,))


@pytest.mark.parametrize(
    "reply",
    [
        "| Boat | Price |\n|---|---|\n| Kayak | 6 |",
        "<html><body><p>name, type, description</p></body></html>",
        "<entity" * 3_000,
        "<entity a='" * 3_000,
        "| a " * 2_000,
        '"' * 5_000,
    ],
)
def test_other_tables_and_damaged_ones_give_none(reply: str) -> None:
    assert parse_tuples(reply) == Extraction()


@pytest.mark.parametrize(
    "reply",
    [
        (
            "**Entity 1:** Quay\n- **Description:** is long.\n\n"
            "**Relation 1:** Lamp Guild ↔ Quay\n- **Description:** lights it."
        ),
        "Entity: Quay\nDescription: is long.\n\nRelation: Lamp Guild - Quay\nDescription: lights it.",
    ],
)
def test_the_ends_of_a_relation_may_stand_behind_its_label(reply: str) -> None:
    assert parse_tuples(reply).links == (LIGHTS,)


def test_a_verb_between_arrows_is_a_relation() -> None:
    reply = "**Relations**\n1. **Lamp Guild** → lights → **Quay**"
    assert parse_tuples(reply).links == (Link("Lamp Guild", "Quay", "lights", "Lamp Guild lights Quay"),)


@pytest.mark.parametrize("reply", FOREIGN)
def test_headings_of_other_languages_begin_lists(reply: str) -> None:
    found = parse_tuples(reply)
    assert [mention.name for mention in found.mentions] == ["Lamp Guild", "Quay"]
    assert found.links == (LIGHTS,)
