"""To whom a sentence of a thread is spoken, as far as it names them: rules over its words and marks. Pure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.dispatch.follow_up import phrases
from bot.dispatch.follow_up.chat_sentences import normal

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.dispatch.follow_up.chat_sentences import Sentence

_GREETINGS = phrases.words("hey hi hello dear hallo hola salut ok okay lieber liebe yo oi hoi ciao und")
_TITLES = phrases.words(
    """
    mr mrs ms miss dr prof professor doctor captain coach sir madam frau herr señor señora señorita don doña monsieur
    madame mevrouw meneer signor
    """
)
_JOINS = frozenset({"or", "and", "&", "/", ",", "oder", "und", "o", "y", "ou", "et"})
_SETS_OFF = frozenset(",:-–—()[]/;|.")
_BEFORE_OBJECTS = phrases.words(
    "about of from by with for to at on in than like and or as between against without after before behind called named"
)
_COMPLETE = phrases.words(  # what a clause can end with, so that a name after it is an address
    """
    it that this there here today tomorrow now then you due open opens closed close pays cost costs start starts
    happen happened mean means work works come comes go goes leave leaves arrive arrives depart sail begin begins end
    ends stop stops
    """
)
_DETERMINERS = phrases.words("the a an my our your his her their this that der die das den el la le les")
_CALLING = phrases.words("question ask asking for to calling hello frage an pregunta para")
_ASKS_OF = phrases.words("ask asking know knows frag frage weiß")
_OPEN_CLASS = phrases.LEADS | phrases.FILLERS | phrases.ADDRESSABLE | phrases.TAGS | phrases.SOFTLY
_NO_NAMES = _OPEN_CLASS | {"there", "again"} | phrases.WH | phrases.AUXILIARIES | phrases.BOTS | phrases.PRONOUNS
_QUESTION_WORDS = phrases.WH | phrases.AUXILIARIES


def for_others(sentence: Sentence, names: frozenset[str]) -> bool:
    """Whether a sentence is spoken to somebody who is named, in whatever place and with whatever marks."""
    tokens = _tokens(sentence)
    if _mentions(sentence) or not tokens:
        return _mentions(sentence)
    known = bool(names) and (
        _begins(tokens, names)
        or _leads_in(tokens, names)
        or _ends(tokens, names, asks=sentence.asks)
        or _turns_to(sentence, names)
    )
    return known or _calls_everybody(tokens) or _calls_unknown(tokens, sentence) or _ends_unknown(tokens, sentence)


def _tokens(sentence: Sentence) -> list[str]:
    """Its words and marks as written, from the first word on that is no greeting."""
    raw = [token for token in sentence.raw if token not in {"¿", "¡", '"', "*", "_"}]
    while raw and (not raw[0][0].isalnum() or (len(raw) > 1 and normal(raw[0]) in phrases.LEADS | _GREETINGS)):
        raw = raw[1:]
    return raw


def _mentions(sentence: Sentence) -> bool:
    """Whether it mentions somebody, unless it only asks about them: "what did @bob promise"."""
    words = sentence.words
    for at, word in enumerate(words):
        if word.startswith(("<@", "@", "<!")):
            about = at > 0 and words[at - 1] in phrases.AUXILIARIES and words[0] in _QUESTION_WORDS
            if not about or at == len(words) - 1 or not phrases.YOU.isdisjoint(words):
                return True
    return False


def _begins(tokens: Sequence[str], names: frozenset[str]) -> bool:
    """Whether it begins with names that a mark, the end, or a question follows: "Bob – who pays?", "Bob who pays?"."""
    at = 0
    while at < len(tokens) and (normal(tokens[at]) in names | _TITLES or (at and normal(tokens[at]) in _JOINS)):
        at += 1
    if not at or normal(tokens[0]) in _JOINS:
        return False
    if at == len(tokens) or tokens[at] in _SETS_OFF or tokens[at - 1] in _SETS_OFF:
        return True
    return normal(tokens[at]) in _QUESTION_WORDS | {"please", "bitte", "u"} | phrases.YOU


def _leads_in(tokens: Sequence[str], names: frozenset[str]) -> bool:
    """Whether somebody is called before a colon or a dash, or asked to answer: "question for Bob: …", "ask Bob …"."""
    words = [normal(token) for token in tokens]
    if words[0] in phrases.WH:
        return False
    at = next((at for at, token in enumerate(tokens) if token in {":", "-", "–", "—"}), 0)
    before = [word for word in words[:at] if word not in {"here", "again", "now"}]
    if before and before[0].removesuffix("s") in names - {before[0]} and len(before) < 3:
        return True  # "Bob's turn: …"
    if before and before[-1] in names and before[0] not in _QUESTION_WORDS:
        return True
    called = [at for at, word in enumerate(words) if word in names]
    near = {word for at in called for word in (*words[max(0, at - 1) : at], *words[at + 1 : at + 2])}
    return bool(near & _ASKS_OF) or bool(called and called[0] <= 2 and words[0] in _CALLING)


def _ends(tokens: Sequence[str], names: frozenset[str], *, asks: bool) -> bool:
    """Whether a name stands at its end that is no part of what is said: "who pays, Bob?", "Who has the key Bob?"."""
    words = [normal(token) for token in tokens]
    while words and words[-1] in {")", "]", "*"}:
        words = words[:-1]
    cut = len(words)
    while cut and words[cut - 1] in names | _TITLES:
        cut -= 1
    if cut in {0, len(words)}:
        return False
    before = words[cut - 1]
    if before in _SETS_OFF:
        return True
    if before in _BEFORE_OBJECTS | phrases.AUXILIARIES | phrases.WH:
        return False
    if not asks and words[0] not in _QUESTION_WORDS:
        return True  # "Good point Bob."
    if words[0] in phrases.AUXILIARIES and cut <= 2:
        return False
    noun = cut > 2 and words[cut - 2] in _DETERMINERS and words[cut - 3] not in {"is", "was"}
    subject = cut > 2 and words[cut - 3] in phrases.WH | {"is", "was"} and words[0] in phrases.WH
    return before in _COMPLETE or noun or (subject and before not in phrases.AUXILIARIES)


def _turns_to(sentence: Sentence, names: frozenset[str]) -> bool:
    """Whether a clause in it is a name, or ends with one after "you": "I agree with you Bob, but …"."""
    for clause in sentence.clauses[:-1]:
        if clause[-1] in names and len(clause) > 1 and clause[-2] in phrases.YOU:
            return True
    if any(all(word in names for word in clause) for clause in sentence.clauses[1:-1]):
        return True
    spoken_to = not phrases.YOU.isdisjoint(sentence.words)
    first, last = sentence.clauses[0], sentence.clauses[-1]
    ends = last[-1] in names and len(last) > 1 and last[-2] not in _BEFORE_OBJECTS
    ordered = any(first[: len(order)] == order for order in phrases.ORDERS)
    return spoken_to and (first[0] in names or (ends and not ordered))


def _calls_everybody(tokens: Sequence[str]) -> bool:
    return len(tokens) > 1 and tokens[1] in {",", ":"} and normal(tokens[0]) in phrases.EVERYBODY


def _calls_unknown(tokens: Sequence[str], sentence: Sentence) -> bool:
    """Whether it begins with what looks like a name: "Zoe, who pays?", "hey zoe who pays?", "Mr Brandt – is it?"."""
    words = [normal(token) for token in tokens]
    if words[0] in _TITLES and len(words) > 2:
        return tokens[2] in _SETS_OFF or words[2] in _QUESTION_WORDS
    if not _may_be_name(tokens[0]) or len(tokens) < 3:
        return False
    if all(word in phrases.FILLERS | phrases.TAGS for word in words[2:] if word[0].isalnum()):
        return False  # "Sundays, too?"
    asks_on = words[2] in _QUESTION_WORDS or (words[2] in phrases.JOINERS and words[3:4] != [])
    if tokens[0][:1].isupper():
        dash = tokens[1] in {"-", "–", "—"} and asks_on
        return tokens[1] == "," or dash or (tokens[1] == ":" and not phrases.YOU.isdisjoint(sentence.words))
    greeted = bool(sentence.raw) and normal(sentence.raw[0]) in {"hey", "hi", "hello", "hallo", "hola", "salut"}
    if greeted and words[1] in _QUESTION_WORDS:
        return True
    return tokens[1] == "," and asks_on


def _ends_unknown(tokens: Sequence[str], sentence: Sentence) -> bool:
    """Whether a question ends with a comma and what looks like a name: "who pays, zoe?"."""
    if len(tokens) < 4 or tokens[-2] != "," or normal(tokens[0]) not in _QUESTION_WORDS:
        return False
    return sentence.asks and tokens.count(",") == 1 and _may_be_name(tokens[-1])


def _may_be_name(token: str) -> bool:
    """Whether a word could be somebody's name: none of the common words, no adverb, no participle."""
    word = normal(token)
    return token.isalpha() and word not in _NO_NAMES and not word.endswith(("ly", "ing", "ed", "mente", "ment"))
