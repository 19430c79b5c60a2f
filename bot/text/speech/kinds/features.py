"""Name what of a message shows its kind: its words, their order, their endings, and their part of speech. Pure.

A word whose part of speech is known stands for its class in patterns ("Q A d o": question word, auxiliary, determiner,
any other word), so that what was learned from "where is the ladder" holds for other nouns.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache
from itertools import pairwise
from typing import TYPE_CHECKING

from bot.text.speech import phrases
from bot.text.speech.grammars import GRAMMARS

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

MAX_LENGTH = 1200  # characters that are looked at
MAX_COUNTED = 12  # words; longer messages are alike
MAX_PATTERN = 5  # classes of words in a row
MAX_CHARACTERS = 4  # in a row, of text without blanks
MAX_ENDING = 6  # characters at the end of a text without blanks
MENTIONED = "botx"  # stands for a mention of the bot
MAX_DISTANCE = 3  # words from a mention

_DIGITS = re.compile(r"\d+")
_ACCENTS = re.compile("[\u0300-\u036f]")
_REPLACED = (
    (re.compile(r"^(?:>|&gt;)[^\n]{0,1200}", re.MULTILINE), " quotex "),
    (re.compile(r"```.{0,1200}?```|`[^`\n]{0,400}`", re.DOTALL), " codex "),
    (re.compile(r"<?https?://(?:[^\s?]|\?(?!\s|\Z)){0,400}"), " urlx "),  # without a mark behind it
    (re.compile(r"[“„«\"「『][^“”„«»\"」』\n]{1,400}[”“»\"」』]"), " quotex "),
)
_TOKEN = re.compile(r"[^\W\d_]+|\d+|[?!.,;:=…、。\n]|[\U0001F300-\U0001FAFF\u2600-\u27BF]")
_MARKS = {"、": ",", "。": ".", "…": ".", "\n": "."}
_UNSPACED = re.compile("[\u3040-\u30ff\u4e00-\u9fff]")
_UNSPACED_END = re.compile(r"[。.!！?？\n]")
_FIRST = "i we ich wir je on nous eu nós yo im ive were weve ill gente"
_READER = "you u du dich dir tu te usted vous você vc ihr vocês euch"
_NOT_OTHERS = "i we life everyone anyone these those"  # of the pronouns in English
_OTHERS = "its er sie es il elle ils elles ça ela ele eles elas él ella eso isso das cest"
_ANYBODY = "anyone anybody someone somebody any jemand einer alguien alguno alguém quelqu quelquun"
_VERBS = "ist sind war hat haben wird kann muss soll darf est sont a ont es son está están é são tem foi fue ha han"
_DENIALS = "not nicht kein keine keinen pas no não ne never nie"
_OPENING = frozenset("GJT")  # classes of greetings, interjections and thanks
_LINKING = "que qu dass daß"  # more often than they ask
_WHICH = "whats wheres whens whos hows que cade pq ou quoi qqn où was"


def name_features(text: str) -> set[str]:
    """The features of a text without mentions."""
    plain = _replace_foreign(text)
    if _UNSPACED.search(plain):
        return _name_unspaced(plain)
    words = [_normalize(token) for token in _TOKEN.findall(plain)]
    while words and words[-1] in "!.":
        words.pop()
    found = _name_marks(words)
    sentences = list(_split(words))
    for number, sentence in enumerate(sentences):
        spoken = [word for word in sentence if word not in ",;:="]
        if spoken:
            found.update(_name_words(spoken))
            found.update(_name_classes(spoken))
            found.update(_name_clauses(sentence))
        if spoken and 0 < number == len(sentences) - 1:
            found |= {f"last first {spoken[0]}", f"last first {' '.join(spoken[:2])}"}
    return found


def _replace_foreign(text: str) -> str:
    """A text in small letters, with one word for each piece of code, address and quotation."""
    plain = unicodedata.normalize("NFKC", text[:MAX_LENGTH])
    for pattern, word in _REPLACED:
        plain = pattern.sub(word, plain)
    return plain.casefold().replace("’", "'")


def _normalize(token: str) -> str:
    """A token without accents; any number is 0."""
    if token[0].isdigit():
        return "0"
    bare = _ACCENTS.sub("", unicodedata.normalize("NFD", token))
    return _MARKS.get(token, unicodedata.normalize("NFC", bare) or token)


def _name_marks(words: Sequence[str]) -> set[str]:
    found = {f"length {min(len(words), MAX_COUNTED)}"}
    if "?" in words:
        found.add("question mark")
    if words[-1:] == ["?"]:
        found.add("ends with question mark")
    for word, after in pairwise(words):
        if word in ",;:=":
            found.add(f"mark {word} {after}")
        if after in ":=":
            found.add(f"mark {after}")
    return found


def name_words_near(text: str, wanted: str) -> set[str]:
    """The words and classes of words before and after the first place of a word, and how many there are."""
    words = [_normalize(token) for token in _TOKEN.findall(_replace_foreign(text))]
    at = words.index(wanted) if wanted in words else len(words)
    before, after = words[:at][::-1], words[at + 1 :]
    found = {f"before {min(len(before), MAX_DISTANCE)}", f"after {min(len(after), MAX_DISTANCE)}"}
    classes = _classes()
    found.add(f"place {_name_neighbor(before, classes)} {_name_neighbor(after, classes)}")
    for name, near in (("before", before), ("after", after)):
        for distance, word in enumerate(near[:MAX_DISTANCE]):
            found |= {f"{name} {distance} {word}", f"{name} {distance} class {classes.get(word, word[-2:])}"}
        found.add(f"{name} row {''.join(classes.get(word, 'o') for word in near[:MAX_DISTANCE])}")
        found.add(f"{name} two {' '.join(near[:2])}")
    return found


def _name_neighbor(near: Sequence[str], classes: Mapping[str, str]) -> str:
    """What stands beside a word: nothing, a mark, one that greets or opens, one that builds sentences, or any other."""
    if not near:
        return "edge"
    if not near[0][0].isalnum():
        return "mark"
    kind = classes.get(near[0], "o")
    return "opener" if kind in _OPENING else "word" if kind == "o" else "function"


def _split(words: Sequence[str]) -> Iterator[list[str]]:
    """The sentences of words and marks."""
    sentence = list[str]()
    for word in [*words, "."]:
        if word not in "?!.":
            sentence.append(word)
        elif sentence:
            yield sentence
            sentence = []


def _name_words(words: Sequence[str]) -> Iterator[str]:
    """The words of a sentence with their neighbors, places and endings."""
    for at, word in enumerate(words):
        yield f"word {word}"
        yield f"at {min(at, 3)} {word}"
        if at + 1 < len(words):
            yield f"words {word} {words[at + 1]}"
        if at + 2 < len(words):
            yield f"words {word} {words[at + 1]} {words[at + 2]}"
            yield f"words {word} * {words[at + 2]}"
        if len(word) > 3:
            yield f"ending {word[-2:]}"
            yield f"ending {word[-3:]}"
            if at < 3:
                yield f"ending at {at} {word[-2:]}"
    yield f"last {words[-1]}"
    yield f"last {' '.join(words[-2:])}"
    yield f"first {' '.join(words[:2])}"
    yield f"first {' '.join(words[:3])}"


def _name_classes(words: Sequence[str]) -> Iterator[str]:
    """The patterns of parts of speech in a sentence."""
    classes = _classes()
    found = ["0" if word == "0" else classes.get(word, "o") for word in words]
    row = f"^{''.join(found)}$"
    for size in range(2, MAX_PATTERN + 1):
        for at in range(len(row) - size + 1):
            yield f"classes {row[at : at + size]}"
    for at in range(min(3, len(words))):
        near = [words[number] if number == at else found[number] for number in range(min(4, len(words)))]
        yield f"classes at {at} {' '.join(near)}"


def _name_clauses(words: Sequence[str]) -> Iterator[str]:
    """How each part of a sentence after a mark begins, and above all the last one."""
    classes = _classes()
    parts = [part for part in _split_at_marks(words) if part]
    for number, part in enumerate(parts[1:], start=2):
        row = "".join("0" if word == "0" else classes.get(word, "o") for word in part[:3])
        for name in ("clause", "last clause") if number == len(parts) else ("clause",):
            yield f"{name} {part[0]}"
            yield f"{name} {' '.join(part[:2])}"
            yield f"{name} classes {row}"
            yield f"{name} classes {part[0]} {row[1:]}"


def _split_at_marks(words: Sequence[str]) -> Iterator[list[str]]:
    """The parts of a sentence between commas and colons."""
    part = list[str]()
    for word in words:
        if word in ",;:=":
            yield part
            part = []
        else:
            part.append(word)
    yield part


@cache
def _classes() -> dict[str, str]:
    """The class of each known word: one letter."""
    grammars = GRAMMARS.values()
    lists = [
        ("C", phrases.parse_words(_LINKING)),
        ("Q", phrases.QUESTION_WORDS | phrases.parse_words(_WHICH)),
        ("I", phrases.parse_words(_FIRST)),
        ("Y", phrases.parse_words(_READER)),
        ("H", phrases.PRONOUNS - phrases.parse_words(_NOT_OTHERS) | phrases.parse_words(_OTHERS)),
        ("E", phrases.parse_words(_ANYBODY)),
        ("W", phrases.WHETHER),
        ("A", phrases.AUXILIARIES | phrases.parse_words(_VERBS)),
        ("N", phrases.NEGATED | phrases.parse_words(_DENIALS)),
        ("T", phrases.THANKS),
        ("G", phrases.GREETINGS),
        *[("F", grammar.finite) for grammar in grammars],
        ("D", phrases.ARTICLES),
        *[("D", grammar.articles | grammar.openers) for grammar in grammars],
        ("L", phrases.PREPOSITIONS),
        *[("L", grammar.links) for grammar in grammars],
        *[("B", grammar.adverbs) for grammar in grammars],
        *[("K", grammar.pronouns | grammar.leading) for grammar in grammars],
        ("J", phrases.INTERJECTIONS),
    ]
    found = {MENTIONED: "M"}
    for name, words in lists:
        for word in words:
            found.setdefault(_normalize(word), name)
    return found


def _name_unspaced(text: str) -> set[str]:
    """The characters in a row of a text without blanks, and those at the end of each of its sentences."""
    joined = _DIGITS.sub("0", "".join(text.split(" "))).strip().rstrip("。.!！…")
    row = f"^{joined}$"
    found = {"question mark"} if "?" in joined or "？" in joined else set[str]()
    for size in range(1, MAX_CHARACTERS + 1):
        found.update(f"row {row[at : at + size]}" for at in range(len(row) - size + 1))
    for sentence in _UNSPACED_END.split(joined):
        found.update(f"sentence ends {sentence[-size:]}" for size in range(2, MAX_ENDING))
    ending = joined.rstrip("?？")
    found.update(f"text ends {ending[-size:]}" for size in range(1, MAX_ENDING + 1))
    return {" ".join(name.split()) for name in found}
