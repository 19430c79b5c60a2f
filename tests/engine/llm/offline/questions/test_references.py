from __future__ import annotations

import pytest

from engine.llm.offline.questions.references import (
    blank_own,
    find_reference,
    has_person_pronoun,
    replace_pronoun,
)

# Each stands for nothing that was said before: what it stands for follows, or it is the weather, the time or a place.
IMPERSONAL = """
Is it true that the sauna closes at nine? | Is it true nobody cleans the showers? | Is it known who broke the window?
Is it possible to rent a canoe? | Is it possible for groups to book a tour? | Is it safe to swim in the river in June?
How long does it take to dry the clay pots? | How expensive is it to repair a violin? | Is it raining at the campsite?
Does it matter which entrance visitors use? | Is it worth repairing the old organ? | What time is it in Oslo?
Is it cold in the hall? | Why is it that the lift stops? | Is it still planned that the fair moves?
Comment faut-il déclarer une absence ? | Où existe-t-il une piscine ? | Combien y a-t-il de chambres au refuge ?
De quoi s'agit-il dans la charte ? | Pourquoi fait-il froid dans la salle ? | Pourquoi est-il interdit de fumer ?
Combien reste-t-il de places ? | Où vaut-il mieux garer les vélos ? | Que s'est-il passé hier ? | Quelle heure est-il ?
Est-ce qu'il pleut au camping ? | Est-ce qu'il y a un parking ? | Est-ce qu'il est interdit de fumer ?
Est-ce qu'il faut un casque ? | Qui a la clé de l'atelier ? | La piscine est-elle ouverte ?
Pourquoi peut-il y avoir des retards ? | Quand la piscine ouvre-t-elle ? | Les vélos sont-ils gratuits ?
Gibt es am Bahnhof Schließfächer? | Ist es erlaubt, Hunde mitzubringen? | Ist es wahr, dass die Messe umzieht?
Wie kommt es, dass wir warten?
Wie lange dauert es, bis der Kleber trocknet? | Wird es ein Fest geben? | Warum ist es im Saal so kalt?
"""
# Each names itself whom it means.
OWNED = """
Which tenants have paid their rent? | When do the tenants pay their rent? | Do visitors have to leave their bags here?
How many members of the club have returned their keys? | What do the members do with their scores?
Has anyone left their umbrella? | Quels locataires ont payé leur loyer ? | Les élèves doivent-ils apporter leur casque ?
¿Qué inquilinos han pagado su alquiler? | Was passiert mit den Gästen, deren Zug ausfällt?
Wann bekommen die Helfer ihre Schlüssel? | Was macht der Hausmeister, wenn er krank ist?
"""
REFERRING = """
Is it open? | Is it safe to climb? | Is it expensive to heat in winter? | How long does it take to heat?
Is it possible to visit it? | Is it ready to lift the boats? | Is it true that it leaks? | Is it warm in winter?
Which slates do they deliver? | How many tiles do their workers bring? | Who is their boss? | What are their prices?
What are the opening hours of their office? | Do they always keep their keys?
Est-il cher ? | Pourquoi la vend-il ? | Quelles tuiles livrent-ils ? | Peut-on la visiter ? | Peut-on y aller ?
Faut-il la repeindre ? | Que faut-il apporter ? | Quelle est leur adresse ? | Quelle est sa hauteur ?
Qui l'entretient ? | Qui l'a acheté ? | Quand l'ont-ils repeint ? | Est-ce qu'il ferme en août ? | Où les met-on ?
La mairie le paie-t-elle ? | Est-ce qu'il fallait la repeindre ?
Wer kümmert sich darum? | Seit wann gibt es ihn? | Was hilft dagegen?
Was kostet er? | Wo liegt es? | Was kostet es im Jahr? | Darf man es besichtigen? | Wie lautet seine Adresse?
Gibt es ein Bild davon? | Ist es groß genug, um darin zu schlafen? | ¿Puedo verla? | Posso visitá-lo?
"""


def split(rows: str) -> list[str]:
    return [text for row in rows.strip().splitlines() for text in row.split(" | ")]


@pytest.mark.parametrize("text", [*split(IMPERSONAL), *split(OWNED)])
def test_a_pronoun_that_means_nothing_said_before_is_no_reference(text: str) -> None:
    blank = blank_own(text)
    assert find_reference(blank) is None
    assert len(blank) == len(text)


@pytest.mark.parametrize("text", split(REFERRING))
def test_a_pronoun_for_what_was_said_before_is_a_reference(text: str) -> None:
    assert find_reference(blank_own(text))


@pytest.mark.parametrize(
    "text",
    [
        *("Besuche l'école", "Peut-on camper devant l'école ?", "Wo kann das sein?", "Wann habt ihr Zeit?"),
        *("¿Cuándo es la charla?", "Was spricht dafür, dass wir warten?", "Wir warten, damit der Kleber trocknet."),
    ],
)
def test_a_word_that_looks_like_a_pronoun_is_none(text: str) -> None:
    assert find_reference(blank_own(text)) is None


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("where is she?", "where is Mina?"),
        ("who is her boss?", "who is Mina's boss?"),
        ("who pays her?", "who pays Mina?"),
    ],
)
def test_a_pronoun_becomes_a_person(question: str, whole: str) -> None:
    assert has_person_pronoun(question)
    assert replace_pronoun(question, "Mina") == whole
