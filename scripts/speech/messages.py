"""Make examples of messages to the bot from templates, varied as people type them.

A file of `examples/` is named by its language. A line `$N` lists what may stand in the place of that name; any other
line has a kind of speech and a template, whose braces offer alternatives: "who {has|took} the $N".
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from random import Random

FOLDER = Path(__file__).with_name("examples")
MENTIONING = Path(__file__).with_name("passing")  # templates of messages with the mark of a mention
BOT = "<@B1>"
PER_TEMPLATE = 14
MENTIONS_PER_TEMPLATE, SAID_PER_TEMPLATE = 40, 10  # of messages that mention the bot
CALLS_PER_TEMPLATE = 2  # times as many, as fewer templates are calls or thanks
PAIRS = 12  # of two sentences, times PER_TEMPLATE

_MARK = "atx"  # of a mention, while a text is varied
_ACCENTS = re.compile("[\u0300-\u036f]")
_EMOJI = ("🙏", "😅", "👍", "🎉", "😩", "✅", "🤔", ":)", "^^")
_OPENERS = {
    "de": ("hi, ", "hey ", "also ", "ok ", "übrigens ", "du, ", "hallo, "),
    "en": ("hi, ", "hey ", "ok so ", "so ", "also ", "quick one: ", "btw "),
    "es": ("hola, ", "oye ", "bueno, ", "ok ", "por cierto, ", "buenas, "),
    "fr": ("salut, ", "bonjour, ", "du coup ", "ok ", "au fait ", "alors "),
    "ja": ("すみません、", "あと、", "ちなみに", "えっと、", "お疲れ様です。"),
    "pt": ("oi, ", "olá, ", "então ", "ok ", "aliás, ", "gente, "),
}


@dataclass(frozen=True)
class Example:
    """A message and its kind."""

    kind: str
    text: str


@dataclass(frozen=True)
class Language:
    """The templates of a language by their kind, and what stands for their names."""

    name: str
    slots: Mapping[str, Sequence[str]]
    templates: Sequence[tuple[str, str]]


def read_languages(folder: Path = FOLDER) -> list[Language]:
    """The languages whose templates a folder holds."""
    return [_read_language(path) for path in sorted(folder.glob("*.txt"))]


def _read_language(path: Path) -> Language:
    lines = [line.split("\t", 1) for line in path.read_text(encoding="utf-8").splitlines() if line]
    slots = {name[1:]: rest.split("|") for name, rest in lines if name.startswith("$")}
    return Language(path.stem, slots, [(kind, rest) for kind, rest in lines if not kind.startswith("$")])


def make_examples(language: Language, random: Random, per_template: int = PER_TEMPLATE) -> Iterator[Example]:
    """Examples of a language, without repetitions, and pairs of sentences."""
    made = dict[str, str]()
    for kind, template in language.templates:
        count = per_template if kind in {"question", "statement"} else per_template * CALLS_PER_TEMPLATE
        for _ in range(count):
            made[vary(expand(template, language.slots, random), kind, language.name, random)] = kind
    yield from (Example(kind, text) for text, kind in made.items())
    yield from _join(made, language.name, random, per_template * PAIRS)


def make_mentions(language: Language, spoken: Language, random: Random) -> Iterator[Example]:
    """Examples of messages that mention the bot; `spoken`: the other templates, and the names, of the language.

    What a person says to the bot begins or ends with the mention, or calls it by it.
    """
    made = dict[str, str]()
    for kind, template in language.templates:
        for _ in range(MENTIONS_PER_TEMPLATE):
            text = expand(template, {**spoken.slots, **language.slots}, random).replace("@", _MARK)
            varied = vary(text, "question" if kind == "direct" else kind, language.name, random)
            made[re.sub(_MARK, BOT, varied, flags=re.IGNORECASE)] = kind
    yield from (Example(kind, text) for text, kind in made.items())
    for kind, template in spoken.templates:
        for _ in range(SAID_PER_TEMPLATE):
            said = vary(expand(template, spoken.slots, random), kind, language.name, random)
            yield Example("direct", _address(said, language.name, random))


def _address(text: str, language: str, random: Random) -> str:
    """A message with the mention before it, after its greeting, or at its end."""
    drawn = random.random()
    if drawn < 0.7:
        return f"{BOT} {text}"
    if drawn < 0.85:
        return f"{random.choice(_OPENERS[language]).rstrip(' ,、')} {BOT}{random.choice((' ', ', '))}{text}"
    return f"{text} {BOT}"


def _join(made: Mapping[str, str], language: str, random: Random, count: int) -> Iterator[Example]:
    """Two sentences each: a question if one asks."""
    asked = [text for text, kind in made.items() if kind == "question"]
    told = [text for text, kind in made.items() if kind == "statement"]
    stop, pause = ("。", "、") if language == "ja" else (". ", ", ")
    for _ in range(count):
        question, statement, other = random.choice(asked), random.choice(told), random.choice(told)
        if random.random() < 0.75:
            text = statement.rstrip(".!。") + random.choice((stop, stop, pause, "\n")) + question
        else:
            text = question.rstrip(".") + random.choice(("? ", stop)) + statement
        yield Example("question", text)
        yield Example("statement", statement.rstrip(".!。") + random.choice((stop, "\n")) + other)


def expand(template: str, slots: Mapping[str, Sequence[str]], random: Random) -> str:
    """A template with one of its alternatives in each place."""
    text, before = template, ""
    while text != before:
        before = text
        text = re.sub(r"\{([^{}]*)\}", lambda found: random.choice(found[1].split("|")), text)
        text = re.sub(
            r"\$([A-Z])", lambda found: random.choice(slots[found[1]]) if found[1] in slots else found[0], text
        )
    text = text.replace("、?", random.choice(("", "、")))
    return " ".join(re.sub(r" ([,.?!])(?=\s|$)", r"\1", text).split())


def vary(text: str, kind: str, language: str, random: Random) -> str:
    """A message as people type it: small letters, openers, no accents, slips, marks left out, emoji."""
    if random.random() < 0.45:
        text = text.lower()
    elif random.random() < 0.4:
        text = text[:1].upper() + text[1:]
    if kind in {"question", "statement"} and random.random() < 0.12:
        text = random.choice(_OPENERS[language]) + text
    if language not in {"ja", "en"} and random.random() < 0.2:
        text = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", text)))
    if language != "ja" and random.random() < 0.12:
        text = _slip(text, random)
    text += _choose_mark(text, kind, language, random)
    return f"{text} {random.choice(_EMOJI)}" if random.random() < 0.08 else text


def _choose_mark(text: str, kind: str, language: str, random: Random) -> str:
    drawn = random.random()
    if text.endswith(("?", "!", "？", "！")) or kind == "introduction":
        return ""
    if kind != "question":
        return ("。" if language == "ja" else random.choice(".!")) if drawn < 0.3 else ""
    if drawn < 0.22:
        return "？" if language == "ja" else "?"
    return random.choice((".", "...")) if drawn < 0.28 else ""


def _slip(text: str, random: Random) -> str:
    """A text with one letter left out, doubled or exchanged."""
    words = text.split()
    at = random.randrange(len(words))
    word = words[at]
    if len(word) > 4:
        cut = random.randrange(1, len(word) - 1)
        head, letter, rest = word[:cut], word[cut], word[cut + 1 :]
        words[at] = random.choice((head + rest, head + letter + letter + rest, head + rest[0] + letter + rest[1:]))
    return " ".join(words)
