from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.extraction import LINKS_OF_A_SENTENCE, MENTIONS_OF_A_NAME, notice
from engine.models import Excerpt, Link, Mention
from engine.text.names import canonical

CHAT = "[2026-05-12 10:03] Ada Byron: The Long Bench is green.\n[2026-05-12 10:04] Bo Holm: Please ask Ada."


def test_a_speaker_is_a_person_linked_to_what_he_names() -> None:
    reading = notice(Excerpt(CHAT))
    assert Mention("Ada Byron", "person", "Ada Byron: The Long Bench is green.") in reading.mentions
    assert Link("Ada Byron", "Long Bench", "green", "Ada Byron: The Long Bench is green.") in reading.links
    assert Link("Bo Holm", "Ada Byron", "ask", "Bo Holm: Please ask Ada.") in reading.links


def test_names_of_one_sentence_are_linked_and_those_of_two_are_not() -> None:
    reading = notice(Excerpt("In June the Alder met the Birch. We like the Cedar."))
    assert [(link.source, link.target) for link in reading.links] == [("Alder", "Birch")]


def test_a_crowded_sentence_gives_a_handful_of_links_and_the_nearest_first() -> None:
    reading = notice(Excerpt("We saw Alder, Birch, Cedar, Dogwood, Elder, Fir, Gorse and Hazel."))
    assert len(reading.mentions) == 8
    assert len(reading.links) == LINKS_OF_A_SENTENCE
    assert (reading.links[0].source, reading.links[0].target) == ("Alder", "Birch")


def test_a_name_said_often_is_mentioned_a_few_times() -> None:
    text = " ".join(f"Today the Alder has {count} leaves." for count in range(9))
    assert len(notice(Excerpt(text)).mentions) == MENTIONS_OF_A_NAME


def test_a_lone_name_is_linked_to_the_title_it_stands_under() -> None:
    reading = notice(Excerpt("We keep the Lamp here.", section="The Patient Agnes: timetable › Rules"))
    assert [(link.source, link.target) for link in reading.links] == [("Patient Agnes", "Lamp")]


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_excerpt_gives_the_same_reading_twice_and_nothing_without_a_name(text: str, section: str) -> None:
    reading = notice(Excerpt(text, section))
    assert reading == notice(Excerpt(text, section))
    assert all(canonical(mention.name) and mention.description for mention in reading.mentions)
    assert all(canonical(link.source) != canonical(link.target) for link in reading.links)
