"""Detect whom a sentence in a thread addresses by name, by rules over its words and punctuation (pure)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.dispatch.follow_up import phrases
from bot.dispatch.follow_up.chat_sentences import normalize_word

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.dispatch.follow_up.chat_sentences import Sentence

_GREETINGS = phrases.parse_words("hey hi hello dear hallo hola salut ok okay lieber liebe yo oi hoi ciao und")
_TITLES = phrases.parse_words(
    """
    mr mrs ms miss dr prof professor doctor captain coach sir madam frau herr señor señora señorita don doña monsieur
    madame mevrouw meneer signor
    """
)
_CONJUNCTIONS = frozenset({"or", "and", "&", "/", ",", "oder", "und", "o", "y", "ou", "et"})
_SEPARATORS = frozenset(",:-–—()[]/;|.")
_BEFORE_OBJECTS = phrases.parse_words(
    "about of from by with for to at on in than like and or as between against without after before behind called named"
)
_CLAUSE_ENDS = phrases.parse_words(  # what a clause can end with, so that a name after it is an address
    """
    it that this there here today tomorrow now then you due open opens closed close pays cost costs start starts
    happen happened mean means work works come comes go goes leave leaves arrive arrives depart sail begin begins end
    ends stop stops
    """
)
_DETERMINERS = phrases.parse_words("the a an my our your his her their this that der die das den el la le les")
_ADDRESS_WORDS = phrases.parse_words("question ask asking for to calling hello frage an pregunta para")
_ASKING_VERBS = phrases.parse_words("ask asking know knows frag frage weiß")
_OPEN_CLASS = phrases.INTERJECTIONS | phrases.FILLERS | phrases.SENTENCE_OPENERS | phrases.TAGS | phrases.SOFTENERS
_NOT_NAMES = (
    _OPEN_CLASS | {"there", "again"} | phrases.QUESTION_WORDS | phrases.AUXILIARIES | phrases.BOTS | phrases.PRONOUNS
)
_QUESTION_WORDS = phrases.QUESTION_WORDS | phrases.AUXILIARIES


def is_for_others(sentence: Sentence, names: frozenset[str]) -> bool:
    """Whether a sentence addresses somebody by name."""
    tokens = _tokens(sentence)
    if _mentions_somebody(sentence) or not tokens:
        return _mentions_somebody(sentence)
    known = bool(names) and (
        _starts_with_name(tokens, names)
        or _calls_before_colon(tokens, names)
        or _ends_with_name(tokens, names, asks=sentence.is_question)
        or _turns_to_name(sentence, names)
    )
    return (
        known
        or _calls_everybody(tokens)
        or _starts_with_unknown_name(tokens, sentence)
        or _ends_with_unknown_name(tokens, sentence)
    )


def _tokens(sentence: Sentence) -> list[str]:
    """Its words and punctuation as written, without leading greetings."""
    raw = [token for token in sentence.tokens if token not in {"¿", "¡", '"', "*", "_"}]
    while raw and (
        not raw[0][0].isalnum() or (len(raw) > 1 and normalize_word(raw[0]) in phrases.INTERJECTIONS | _GREETINGS)
    ):
        raw = raw[1:]
    return raw


def _mentions_somebody(sentence: Sentence) -> bool:
    """Whether it mentions somebody, unless it only asks about them: "what did @bob promise"."""
    words = sentence.words
    for at, word in enumerate(words):
        if word.startswith(("<@", "@", "<!")):
            about = at > 0 and words[at - 1] in phrases.AUXILIARIES and words[0] in _QUESTION_WORDS
            if not about or at == len(words) - 1 or not phrases.YOU.isdisjoint(words):
                return True
    return False


def _starts_with_name(tokens: Sequence[str], names: frozenset[str]) -> bool:
    """Whether it starts with names, then punctuation, the end or a question: "Bob – who pays?", "Bob who pays?"."""
    at = 0
    while at < len(tokens) and (
        normalize_word(tokens[at]) in names | _TITLES or (at and normalize_word(tokens[at]) in _CONJUNCTIONS)
    ):
        at += 1
    if not at or normalize_word(tokens[0]) in _CONJUNCTIONS:
        return False
    if at == len(tokens) or tokens[at] in _SEPARATORS or tokens[at - 1] in _SEPARATORS:
        return True
    return normalize_word(tokens[at]) in _QUESTION_WORDS | {"please", "bitte", "u"} | phrases.YOU


def _calls_before_colon(tokens: Sequence[str], names: frozenset[str]) -> bool:
    """Whether it names somebody before a colon or a dash, or asks them: "question for Bob: …", "ask Bob …"."""
    words = [normalize_word(token) for token in tokens]
    if words[0] in phrases.QUESTION_WORDS:
        return False
    at = next((at for at, token in enumerate(tokens) if token in {":", "-", "–", "—"}), 0)
    before = [word for word in words[:at] if word not in {"here", "again", "now"}]
    if before and before[0].removesuffix("s") in names - {before[0]} and len(before) < 3:
        return True  # "Bob's turn: …"
    if before and before[-1] in names and before[0] not in _QUESTION_WORDS:
        return True
    called = [at for at, word in enumerate(words) if word in names]
    near = {word for at in called for word in (*words[max(0, at - 1) : at], *words[at + 1 : at + 2])}
    return bool(near & _ASKING_VERBS) or bool(called and called[0] <= 2 and words[0] in _ADDRESS_WORDS)


def _ends_with_name(tokens: Sequence[str], names: frozenset[str], *, asks: bool) -> bool:
    """Whether it ends with a name that is no part of the question: "who pays, Bob?", "Who has the key Bob?"."""
    words = [normalize_word(token) for token in tokens]
    while words and words[-1] in {")", "]", "*"}:
        words = words[:-1]
    cut = len(words)
    while cut and words[cut - 1] in names | _TITLES:
        cut -= 1
    if cut in {0, len(words)}:
        return False
    before = words[cut - 1]
    if before in _SEPARATORS:
        return True
    if before in _BEFORE_OBJECTS | phrases.AUXILIARIES | phrases.QUESTION_WORDS:
        return False
    if not asks and words[0] not in _QUESTION_WORDS:
        return True  # "Good point Bob."
    if words[0] in phrases.AUXILIARIES and cut <= 2:
        return False
    noun = cut > 2 and words[cut - 2] in _DETERMINERS and words[cut - 3] not in {"is", "was"}
    subject = (
        cut > 2 and words[cut - 3] in phrases.QUESTION_WORDS | {"is", "was"} and words[0] in phrases.QUESTION_WORDS
    )
    return before in _CLAUSE_ENDS or noun or (subject and before not in phrases.AUXILIARIES)


def _turns_to_name(sentence: Sentence, names: frozenset[str]) -> bool:
    """Whether a clause in it is a name, or ends with one after "you": "I agree with you Bob, but …"."""
    for clause in sentence.clauses[:-1]:
        if clause[-1] in names and len(clause) > 1 and clause[-2] in phrases.YOU:
            return True
    if any(all(word in names for word in clause) for clause in sentence.clauses[1:-1]):
        return True
    spoken_to = not phrases.YOU.isdisjoint(sentence.words)
    first, last = sentence.clauses[0], sentence.clauses[-1]
    ends = last[-1] in names and len(last) > 1 and last[-2] not in _BEFORE_OBJECTS
    ordered = any(first[: len(order)] == order for order in phrases.REQUESTS)
    return spoken_to and (first[0] in names or (ends and not ordered))


def _calls_everybody(tokens: Sequence[str]) -> bool:
    return len(tokens) > 1 and tokens[1] in {",", ":"} and normalize_word(tokens[0]) in phrases.GROUP_NAMES


def _starts_with_unknown_name(tokens: Sequence[str], sentence: Sentence) -> bool:
    """Whether it starts with what looks like a name: "Zoe, who pays?", "hey zoe who pays?", "Mr Brandt – is it?"."""
    words = [normalize_word(token) for token in tokens]
    if words[0] in _TITLES and len(words) > 2:
        return tokens[2] in _SEPARATORS or words[2] in _QUESTION_WORDS
    if not _can_be_name(tokens[0]) or len(tokens) < 3:
        return False
    if all(word in phrases.FILLERS | phrases.TAGS for word in words[2:] if word[0].isalnum()):
        return False  # "Sundays, too?"
    asks_on = words[2] in _QUESTION_WORDS or (words[2] in phrases.CONJUNCTIONS and words[3:4] != [])
    if tokens[0][:1].isupper():
        dash = tokens[1] in {"-", "–", "—"} and asks_on
        return tokens[1] == "," or dash or (tokens[1] == ":" and not phrases.YOU.isdisjoint(sentence.words))
    greeted = bool(sentence.tokens) and normalize_word(sentence.tokens[0]) in {
        "hey",
        "hi",
        "hello",
        "hallo",
        "hola",
        "salut",
    }
    if greeted and words[1] in _QUESTION_WORDS:
        return True
    return tokens[1] == "," and asks_on


def _ends_with_unknown_name(tokens: Sequence[str], sentence: Sentence) -> bool:
    """Whether a question ends with a comma and what looks like a name: "who pays, zoe?"."""
    if len(tokens) < 4 or tokens[-2] != "," or normalize_word(tokens[0]) not in _QUESTION_WORDS:
        return False
    return sentence.is_question and tokens.count(",") == 1 and _can_be_name(tokens[-1])


def _can_be_name(token: str) -> bool:
    """Whether a word could be somebody's name: none of the common words, no adverb, no participle."""
    word = normalize_word(token)
    return token.isalpha() and word not in _NOT_NAMES and not word.endswith(("ly", "ing", "ed", "mente", "ment"))
