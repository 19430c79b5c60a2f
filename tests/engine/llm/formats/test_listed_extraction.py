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
