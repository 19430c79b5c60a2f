"""The order of words tells a Spanish or Portuguese question from a statement, where both begin with the verb."""

from __future__ import annotations

import pytest

from bot.text.speech.chat_sentences import split_sentences
from bot.text.speech.kinds.verb_first import read_verb_first

ORDERS = """
asks: sabe Berta el código | ha cambiado el club la cerradura | firmó Berta el acta | guarda la vecina las llaves
asks: puede Berta abrir la nave | abre la nave los domingos | ha visto alguien las llaves | incluye el precio el taller
asks: tem a Berta as chaves | trocou o clube a fechadura | pode a Berta abrir o galpão | abre o galpão aos domingos
asks: já chegou a carta | já voltou o vizinho do andar de cima | sabe alguém a senha do galpão
tells: sabe Berta que cerramos | tiene razón Berta | firmó Berta ayer | se cayó el muro | volvió la vecina del segundo
tells: ya llegó la carta | funciona perfectamente la nave | abre a las ocho la nave | está cerrada la nave hasta junio
tells: puede que llueva el lunes | llegó el lunes la carta | tiene buena pinta la nave
tells: tem razão a Berta | assinou a Berta ontem | abre às oito o galpão | pode deixar comigo | sabe-se que o muro caiu
tells: já chegou a carta hoje cedo | está fechado o galpão até junho | serve bem o galpão | chegou a carta do clube
open: está cerrada la nave | existe un plano de la nave | cierra la nave a las ocho | ya firmó Berta el acta
open: fica aberto o galpão | existe uma planta do galpão | precisa de luvas no galpão | es cierto que cierra la nave
none: la nave está cerrada | quién firmó el acta | firmó Berta el acta? | o galpão já abriu | sí, firmó Berta el acta
none: the gate opens at nine | Berta hat das Tor repariert | firmó Berta
"""


@pytest.mark.parametrize("line", ORDERS.strip().splitlines())
def test_a_verb_at_the_beginning_asks_or_tells_by_what_follows(line: str) -> None:
    order, _, texts = line.partition(": ")
    for text in texts.split(" | "):
        [sentence] = split_sentences(text)
        assert (read_verb_first(sentence) or "none") == order, text
