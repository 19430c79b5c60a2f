from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.entities import ExcerptFacts, collect_excerpt_facts, find_entities

FACTS = collect_excerpt_facts(["We like Welcome, the boat.", "A slipway is wet."], ["Ada Byron", "Bo Holm", "Bo Lind"])
# A sentence, and its names: by their looks, by the rest of the excerpt, and none in shouting or small words.
NAMES = """
The Long Bench stands where Mill Street meets the Ropewalk. => Long Bench, Mill Street, Ropewalk
We saw the Museum of Small Finds on Tuesday 12 May. => Museum of Small Finds
Ask Dr. Marsh about permit 17-B and ticket ABC-123. => Dr. Marsh, 17-B, ABC-123
Call load_index() of EmberStore v2.3.1 in buildGraph. => load_index(), EmberStore, v2.3.1, buildGraph
Tell @ada.b and #har-bour about it. => @ada.b, #har-bour
Łukasz and Ökologie GmbH met Élodie in Αθήνα. => Łukasz, Ökologie GmbH, Élodie, Αθήνα
Buoy 4 is back; Bram's lamp too. => Buoy 4, Bram
Ploughton is far from here. => Ploughton
Welcome sails at nine today. => Welcome
We asked Ada and then Bo. => Ada Byron, Bo
Slipway cleaning starts at nine. =>
Water is off on Monday. =>
Please come. =>
The WHO and the IT team met; WHO came? => WHO, IT
Skelby GitHub Actions and EmberStore run. => Skelby GitHub Actions, EmberStore
Call EmberStore LampHouse here. => EmberStore, LampHouse
They sang "The Lamp of Skelby" there. => The Lamp of Skelby
Don't come. =>
Ich habe heute mit Anna gesprochen. => Anna
Wir haben Ihnen und Tom geschrieben, aber Sie waren nicht da. => Tom
Demain Anna est avec nous à Lyon. => Anna, Lyon
Nous avons vu Le Havre hier. => Le Havre
Mais la France est sous la pluie. => France
Amanhã ela vai com Pedro para Lisboa. => Pedro, Lisboa
Мы были вчера в Москве, но они там не живут. => Москве
São Paulo é muito grande. => São Paulo
Lunch is up. =>
Anna came. => Anna
Opening hours =>
Gracias! Ella Vosk está en Skelby hoy. => Ella Vosk, Skelby
Athens have won again. => Athens
Set EMBER_HOME and call Light_Lamp() twice. => EMBER_HOME, Light_Lamp()
Flights are late; it is 40 GB of Redis. => Redis
門が開く。 =>
PLEASE DO NOT FEED THE GOOSE ON THE QUAY =>
"""
TYPES = """
person: We met Dr. Marsh there. | Later Ilse Holm said no. | We know @ada by now.
location: It is in Mill Street now. | She lives near Skelby now.
organization: The work of Torfield Ltd is good.
event: All of the Lantern Festival was wet.
artifact: The key is K-41 there.
concept: What the Mending means. | It was Vell Holm who said it; Vell Holm said so.
"""


@pytest.mark.parametrize("line", NAMES.strip().splitlines())
def test_names_are_found(line: str) -> None:
    sentence, _, names = line.partition(" =>")
    assert ", ".join(name.name for name in find_entities(sentence, FACTS)) == names.strip()


@pytest.mark.parametrize("line", TYPES.strip().splitlines())
def test_cues_tell_the_type(line: str) -> None:
    kind, _, sentences = line.partition(": ")
    for sentence in sentences.split(" | "):
        assert find_entities(sentence, ExcerptFacts())[0].type == kind, sentence


@given(st.text(max_size=200))
def test_any_text_gives_names_that_differ_and_stand_in_order(text: str) -> None:
    starts = [name.start for name in find_entities(text, collect_excerpt_facts([text], []))]
    assert starts == sorted(starts)
