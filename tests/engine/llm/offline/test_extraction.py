from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.extraction import MAX_LINKS_PER_SENTENCE, MAX_MENTIONS_PER_NAME, extract_by_rules
from engine.models import Excerpt, Link, Mention
from engine.text.names import normalize_name

CHAT = "[2026-05-12 10:03] Ada Byron: The Long Bench is green.\n[2026-05-12 10:04] Bo Holm: Please ask Ada."


def test_a_speaker_is_a_person_linked_to_what_he_names() -> None:
    reading = extract_by_rules(Excerpt(CHAT))
    assert Mention("Ada Byron", "person", "Ada Byron: The Long Bench is green.") in reading.mentions
    assert Link("Ada Byron", "Long Bench", "green", "Ada Byron: The Long Bench is green.") in reading.links
    assert Link("Bo Holm", "Ada Byron", "ask", "Bo Holm: Please ask Ada.") in reading.links


def test_names_of_one_sentence_are_linked_and_those_of_two_are_not() -> None:
    reading = extract_by_rules(Excerpt("In June the Alder met the Birch. We like the Cedar."))
    assert [(link.source, link.target) for link in reading.links] == [("Alder", "Birch")]


def test_a_crowded_sentence_gives_a_handful_of_links_and_the_nearest_first() -> None:
    reading = extract_by_rules(Excerpt("We saw Alder, Birch, Cedar, Dogwood, Elder, Fir, Gorse and Hazel."))
    assert len(reading.mentions) == 8
    assert len(reading.links) == MAX_LINKS_PER_SENTENCE
    assert (reading.links[0].source, reading.links[0].target) == ("Alder", "Birch")


def test_a_name_said_often_is_mentioned_a_few_times() -> None:
    text = " ".join(f"Today the Alder has {count} leaves." for count in range(9))
    assert len(extract_by_rules(Excerpt(text)).mentions) == MAX_MENTIONS_PER_NAME


def test_a_lone_name_is_linked_to_the_title_it_stands_under() -> None:
    reading = extract_by_rules(Excerpt("We keep the Lamp here.", section="The Patient Agnes: timetable › Rules"))
    assert [(link.source, link.target) for link in reading.links] == [("Patient Agnes", "Lamp")]


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_excerpt_gives_the_same_reading_twice_and_nothing_without_a_name(text: str, section: str) -> None:
    reading = extract_by_rules(Excerpt(text, section))
    assert reading == extract_by_rules(Excerpt(text, section))
    assert all(normalize_name(mention.name) and mention.description for mention in reading.mentions)
    assert all(normalize_name(link.source) != normalize_name(link.target) for link in reading.links)
