from __future__ import annotations

from random import Random

from bot.text.speech.kinds.passing import MANNERS
from bot.text.speech.kinds.weights import KINDS
from scripts.speech.messages import (
    BOT,
    MENTIONING,
    Language,
    expand,
    make_examples,
    make_mentions,
    read_languages,
    vary,
)


def test_a_template_takes_one_of_each_alternative() -> None:
    texts = {expand("{who|what} has the $N?", {"N": ["key", "map"]}, Random(seed)) for seed in range(40)}
    assert texts == {f"{word} has the {noun}?" for word in ("who", "what") for noun in ("key", "map")}


def test_examples_have_kinds_and_pairs_of_sentences() -> None:
    language = Language("en", {}, [("question", "who {pays|signs}"), ("statement", "the gate is {open|shut}")])
    examples = list(make_examples(language, Random(1), 4))
    assert {example.kind for example in examples} == {"question", "statement"}
    assert any("who" in example.text and "gate" in example.text for example in examples)


def test_examples_mention_the_bot_once_before_or_behind_what_it_is_told() -> None:
    spoken = Language("en", {"N": ["gate"]}, [("question", "who has the $N")])
    language = Language("en", {}, [("passing", "ask @ for the $N"), ("direct", "hey @ who has the $N")])
    examples = list(make_mentions(language, spoken, Random(1)))
    assert {example.kind for example in examples} == set(MANNERS)
    assert all(example.text.count(BOT) == 1 for example in examples)
    assert any(example.text.startswith(BOT) for example in examples)


def test_variations_keep_the_words_of_a_call() -> None:
    assert "hello" in vary("hello", "introduction", "en", Random(3)).lower()


def test_every_template_has_a_known_kind() -> None:
    languages = read_languages()
    assert {language.name for language in languages} == {"de", "en", "es", "fr", "ja", "pt"}
    assert {kind for language in languages for kind, _ in language.templates} <= set(KINDS)
    mentioning = read_languages(MENTIONING)
    assert [language.name for language in mentioning] == [language.name for language in languages]
    assert {kind for language in mentioning for kind, _ in language.templates} == set(MANNERS)
