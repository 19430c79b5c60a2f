import pytest

from bot.text.speech.addressed import classify_addressed
from bot.text.speech.kinds.named import is_name

NAMES = """
Vale Street | Bravo GmbH | Nickel Avenue | Prima Straße | The Perfect Ltd | Rue Bravo | Calle Bueno | Rua Perfeito
"""
OTHERS = """
Vale, Street | Many Thanks | Danke Jonas | Merci Camille | Hello Kitty | Good Morning | Super Sache | Great Work
THANK YOU | prima Straße | Vale Street? | Prima. Straße | Klasse Antwort | Bom Dia | Royal Street | Gut Gemacht | Prima
Great Work Ada | Nice One | Super Fund | Prima Zusage | Klasse Vortrag | Bravo Mira | Great Otto | Great Update
Nice Try | Perfect Match | Thank You Team | Danke Haus | Gracias Tienda | Hello Studio | Merci Market | Super Platz
Klasse Hotel | Danke Straße | Thanks Street | Hello Avenue
"""
# Of those the ones that thank or praise, as they are classified besides.
THANKED = "Super Fund | Great Otto | Great Update | Super Platz | Great Harvest | Perfect Choice"


def list_texts(table: str) -> list[str]:
    return [text.strip() for line in table.strip().splitlines() for text in line.split("|")]


@pytest.mark.parametrize("text", list_texts(NAMES))
def test_name_with_a_word_of_praise_is_asked_about(text: str) -> None:
    assert is_name(text)
    assert classify_addressed(f"<@B> {text}") == "question"


@pytest.mark.parametrize("text", list_texts(OTHERS))
def test_other_capitals_are_no_name(text: str) -> None:
    assert not is_name(text)


@pytest.mark.parametrize("text", list_texts(THANKED))
def test_praise_in_capitals_is_praise(text: str) -> None:
    assert classify_addressed(f"<@B> {text}") == "thanks"
