"""A reply gives facts, says that there are none, or gives nothing."""

from __future__ import annotations

import pytest

from engine.llm.formats.outcomes import judge_extraction

END = "<|COMPLETE|>"
NONE = """
None.|No entities or relationships found in the text.|Keine.|Keine Entitäten oder Beziehungen gefunden.
Es wurden keine Entitäten gefunden.|Aucune entité.|Aucune relation n'a été trouvée dans le texte.
Ninguna entidad encontrada.|No se encontraron entidades ni relaciones.|Nenhuma entidade foi encontrada.|Nada.
Sem entidades.|Il n'y a aucune entité dans le texte.|The text does not contain any entities.|特になし
entity<|#|>Unknown<|#|>Unknown<|#|>Unknown
There are no entities in this text that match the given types.|Nessuna entità trovata.|Brak encji w tekście.
Er zijn geen entiteiten of relaties gevonden.|В тексте не найдено сущностей.|Inga entiteter hittades.|엔티티가 없습니다.
なし|エンティティは見つかりませんでした。|該当なし|没有实体|未找到任何实体或关系。|Entities: None
entity<|#|>None<|#|>None<|#|>No entities were found.|entity<|#|>N/A<|#|>N/A<|#|>N/A
entity<|#|>No entities found<|#|>Other<|#|>The text contains no entities.|relation<|#|>None<|#|>None<|#|>none<|#|>None
"""
NO_NONE = """
There is nothing about entities that I would add, as the talk is idle.|Understood!|Keine Ahnung, frag den Müller.
Nothing but the mill was mentioned by the miller.|Er zijn geen molens meer in de stad.|Non è il mulino.
"""


def list_replies(lines: str) -> list[str]:
    return [reply for line in lines.strip().split("\n") for reply in split_outside_marks(line)]


def split_outside_marks(line: str) -> list[str]:
    return line.replace("<|#|>", "\0").split("|")


@pytest.mark.parametrize("words", list_replies(NONE))
def test_a_model_says_in_its_own_language_that_there_is_nothing(words: str) -> None:
    reading = judge_extraction(f"{words.replace(chr(0), '<|#|>')}\n{END}", "tuples")
    assert (reading.outcome.value, reading.has_facts) == ("none", False)


@pytest.mark.parametrize("words", list_replies(NO_NONE))
def test_other_words_say_no_such_thing(words: str) -> None:
    assert judge_extraction(f"{words}\n{END}", "tuples").outcome.value == "rowless"


@pytest.mark.parametrize("reply", ['{"entities": null, "relationships": null}', '{"entities": []}'])
def test_an_object_may_hold_no_lists_or_empty_ones(reply: str) -> None:
    assert judge_extraction(reply, "json").outcome.value == "none"


@pytest.mark.parametrize("reply", ['{"relationships": null}', '{"result": []}'])
def test_an_object_without_entities_says_nothing(reply: str) -> None:
    assert judge_extraction(reply, "json").outcome.value == "rowless"


def test_a_row_that_says_none_is_no_fact_beside_others() -> None:
    rows = "entity<|#|>Ulla<|#|>Person<|#|>Ulla tends the lock.\nentity<|#|>None<|#|>None<|#|>None"
    assert [mention.name for mention in judge_extraction(rows, "tuples").extraction.mentions] == ["Ulla"]


def test_a_name_that_may_deny_elsewhere_is_a_fact() -> None:
    row = "relation<|#|>Sem<|#|>Ulla<|#|>work<|#|>Both tend the lock."
    assert judge_extraction(row, "tuples").extraction.links


def test_a_thing_that_is_called_so_is_a_fact() -> None:
    row = "entity<|#|>None<|#|>Concept<|#|>None is the value of a function that returns nothing."
    assert [mention.name for mention in judge_extraction(row, "tuples").extraction.mentions] == ["None"]
