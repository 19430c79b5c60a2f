from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from engine.llm.offline.extraction import MAX_LINKS_PER_SENTENCE, MAX_MENTIONS_PER_NAME, extract_by_rules
from engine.llm.offline.names.selection import MAX_UNTYPED
from engine.models import Excerpt, Link, Mention
from engine.text.names import normalize_name

CHAT = "[2026-05-12 10:03] Ada Byron: The Long Bench is green.\n[2026-05-12 10:04] Bo Holm: Please ask Ada."


def test_a_speaker_is_a_person_linked_to_what_he_names() -> None:
    reading = extract_by_rules(Excerpt(CHAT))
    assert Mention("Ada Byron", "person", "Ada Byron: The Long Bench is green.") in reading.mentions
    assert Link("Ada Byron", "Long Bench", "green", "Ada Byron: The Long Bench is green.") in reading.links
    assert Link("Bo Holm", "Ada Byron", "ask", "Bo Holm: Please ask Ada.") in reading.links


def test_names_of_one_sentence_are_linked_and_a_lone_one_to_its_title() -> None:
    apart = extract_by_rules(Excerpt("In June the Alder met the Birch. We like the Cedar."))
    under = extract_by_rules(Excerpt("We keep the Lamp here.", section="The Patient Agnes: timetable › Rules"))
    pairs = [(link.source, link.target) for link in (*apart.links, *under.links)]
    assert pairs == [("Alder", "Birch"), ("Patient Agnes", "Lamp")]


def test_a_crowded_sentence_and_a_frequent_name_are_bounded() -> None:
    reading = extract_by_rules(Excerpt("We saw Alder, Birch, Cedar, Dogwood, Elder, Fir, Gorse and Hazel."))
    often = extract_by_rules(Excerpt(" ".join(f"Today the Alder has {count} leaves." for count in range(9))))
    assert (len(reading.mentions), len(reading.links)) == (8, MAX_LINKS_PER_SENTENCE)
    assert (reading.links[0].source, reading.links[0].target) == ("Alder", "Birch")
    assert len(often.mentions) == MAX_MENTIONS_PER_NAME


def test_messages_of_the_same_length_keep_their_speakers() -> None:
    lines = [
        "[2024-05-01 10:00] Ebbe Vosk: the rope walk is to be closed today",
        "[2024-05-01 10:01] Tolv Arrend: I took the keys to the lamp house",
        "[2024-05-01 10:02] Anna Holm: then the lamp house is open at nine",
        "[2024-05-01 10:03] Ebbe Vosk: please do tell the keeper about it",
    ]
    found = extract_by_rules(Excerpt("\n".join(lines), "", is_conversation=True))
    assert [(one.name, one.description) for one in found.mentions if one.name != "Ebbe Vosk"] == [
        ("Tolv Arrend", "Tolv Arrend: I took the keys to the lamp house"),
        ("Anna Holm", "Anna Holm: then the lamp house is open at nine"),
    ]
    assert found.links == ()


def test_many_single_words_are_kept_in_a_conversation_and_few_in_prose() -> None:
    words = [f"{start}{end}" for start in ("Ald", "Bir", "Ced", "Dog", "Elm") for end in ("unt", "osk", "urn", "ilt")]
    text = " ".join(f"We saw {word} there." for word in words)
    assert len(extract_by_rules(Excerpt(text)).mentions) == MAX_UNTYPED
    assert len(extract_by_rules(Excerpt(text, "", is_conversation=True)).mentions) == len(words)


@given(st.text(max_size=300), st.text(max_size=30))
def test_any_excerpt_gives_the_same_reading_twice_and_nothing_without_a_name(text: str, section: str) -> None:
    reading = extract_by_rules(Excerpt(text, section))
    assert reading == extract_by_rules(Excerpt(text, section))
    assert all(normalize_name(mention.name) and mention.description for mention in reading.mentions)
    assert all(normalize_name(link.source) != normalize_name(link.target) for link in reading.links)
