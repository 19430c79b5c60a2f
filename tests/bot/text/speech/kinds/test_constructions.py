from __future__ import annotations

import pytest

from bot.text.speech.addressed import classify_addressed
from bot.text.speech.kinds.constructions import read_construction

BOT = "<@B1>"
READ = """
statement: what they wrote about the hedge was wrong | whoever leaves last turns the heater off
statement: ce que Léa disait du loyer est faux
statement: lo que dijiste del tejado está bien | o que vocês falaram da bomba tava certo
statement: el último que llegue apaga la luz
statement: quem chegar primeiro abre o portão | was du zur Miete geschrieben hast stimmt
statement: arreglé la puerta del taller | consertei o portão da garagem
statement: j'ai rangé les clés au bureau | Ilse's going to call them
statement: new market day: Thursday | nouveau jour de marché : jeudi | gate: 9:30 | warte bitte auf mich | espérenme
statement: perhaps Ilse paints the gate in May | vielleicht kommt Rolf am Montag | talvez a Ilse pinte o portão em maio
statement: peut-être que Rolf repeint la grille | not Brest, Nantes | nicht Ulm, Mainz
question: the baker sent an offer or just a bill | le boulanger a envoyé une offre ou juste une facture
question: el panadero mandó oferta o solo factura | waiting for the permit, any news from Rolf
question: the list of keys, it was here yesterday | como tá a pintura do portão | ça avance la peinture du portail
thanks: found it, never mind | trouvé, laisse tomber | achei, deixa pra lá | hat geklappt, danke | ok, nvm
question: they want twelve euros each, is that right
question: der Pass ist seit Mai abgelaufen, gilt der noch | we are forty, right
question: wir sind vierzig Leute, oder | o moinho abre às nove, né | todo lo que escribió Rolf sobre el molino
question: everything Rolf said about the mill
question: no luck with the printer upstairs | impossible de me connecter au serveur
"""
OPEN = """
who keeps the key | lol, right | the gate is stuck again | everything Rolf said was wrong | hi! are you a bot
whether she sent an offer or just a bill is unclear | maybe you know who paints it | como vai hoje | not sure, sorry
what was decided about the mill | error: 404 | wenn der Strom ausfällt, geht das Tor nicht auf | Tom is late, so are we
por cierto, podemos reservar la sala | revisé el acta y no dice nada | j'ai égaré le code du portail | o que é isso
"""


@pytest.mark.parametrize("line", READ.strip().splitlines())
def test_the_grammar_of_a_message_shows_its_kind(line: str) -> None:
    kind, _, texts = line.partition(": ")
    for text in texts.split(" | "):
        assert read_construction(text) == kind, text
        assert classify_addressed(f"{BOT} {text}") == kind, text


@pytest.mark.parametrize("text", [text for line in OPEN.strip().splitlines() for text in line.split(" | ")])
def test_other_messages_are_left_to_what_was_learned(text: str) -> None:
    assert read_construction(text) == ""


def test_a_question_mark_asks_whatever_the_grammar() -> None:
    assert classify_addressed(f"{BOT} what they wrote about the hedge was wrong?") == "question"
