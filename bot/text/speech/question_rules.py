"""Classify a message that does not mention the bot: a question to it, chatter, for others, or unclear. Pure.

The rules prefer silence: a missed question can be asked again with a mention. A message that ends in laughter is
chatter; one that addresses somebody (`addressee`) is for others. Otherwise the first rule decides that applies to a
sentence without its openers ("one more thing"); of several sentences, a question counts first:

1. Nothing but thanks, praise or interjections: chatter.
2. It starts with a request ("tell me", "summarize"), or with "I was wondering" and a question word: question.
3. It is asked for effect ("who cares", "… anyway", "… again", "isn't it"): chatter.
4. It says "you", asks what a person does ("did she", "when will they"), or is about "my" things: unclear.
5. It is about "us" or "anybody", or invites ("who wants", "how about lunch"): for others.
6. It starts with a question word, or with a verb before its subject; without a question mark only in a form that is no
   statement ("when does", not "when I"): question.
7. Unless somebody else spoke after the bot: it leaves out its verb ("and on Sundays", "Only Fridays?"), or is a
   statement in the third person with a question mark: question.
8. Anything else: unclear.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Literal

from bot.text.speech import phrases
from bot.text.speech.addressee import is_for_others, split_names
from bot.text.speech.chat_sentences import SHORTCODE, Sentence, split_sentences
from bot.text.speech.unspaced_questions import calls_somebody, classify_unspaced, is_unspaced, is_unspaced_thanks

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Verdict = Literal["question", "unclear", "chatter", "others"]
Words = tuple[str, ...]
_VERDICT_ORDER: tuple[Verdict, ...] = ("question", "others", "unclear", "chatter")  # of several sentences

MAX_CHATTER_WORDS = 9
MAX_ELLIPSIS_WORDS, MAX_UNMARKED_ELLIPSIS_WORDS = 8, 6
MAX_FRAGMENT_WORDS = 7

_LAUGHTER = re.compile(r"lma+o+|lo+l+|(?:ha){2,}h?|(?:h[ei]){2,}|(?:ja){2,}|x+d+|mdr+|ptdr+|k{3,}|(?:rs){2,}|w{3,}")
_LAUGHING_MARKS = (";)", ";-)", ":P", ":p", ":D", "xD", "/s")
# What begins like a request and is none: "list is wrong", "explain that to my boss".
_IDIOM = re.compile(
    r"\A(?:(?:list|details|compare|explain|describe|translate|repeat)\b.*"
    r"\b(?:is|was|looks|said|to (?:my|the|our|your|his|her)|with last)\b"
    r"|(?:more on .*|details) (?:tomorrow|later)|find that)"
)
_ABOUT_IT = (("tell", "me", "about", "it"), ("tell", "us", "about", "it"))
_HOW_ABOUT = (("how", "about"), ("what", "about"))
_ASKS_ON = re.compile(
    r"\b(?:but|and|aber|und|mais|et|pero|mas|y|e),? (?:who|whom|what(?! an?\b)|when|where|why|how|which|wer|wen|wann|wo"
    r"|warum|wie(?! immer\b)|wieviel|welche\w*|qui|quand|où|combien|comment|pourquoi|quién|quien|cuándo|cuando|dónde"
    r"|donde|cuánto|cuanto|cómo|quem|quando|onde|quanto)\b",
    re.IGNORECASE,
)
_ASKS_ON_UNSPACED = re.compile(
    r"[、。,！!\s](?:誰|いつ|どこ|何(?!より|とか|も|か)|いくら|なぜ|どうして|どうやって)"
    r"|[、。,！!\s][^、。\s]{1,15}(?<!で)(?<!こんにち)(?<!こんばん)は[？?]?\Z"
)


def classify_message(text: str, people: Collection[str] = (), *, interrupted: bool = False) -> Verdict:
    """Classify a message in a thread of the bot.

    `people`: the names of the participants. `interrupted`: somebody else wrote after the bot's last answer. "unclear":
    a statement, or a question to nobody in particular; a model may decide.
    """
    sentences = split_sentences(text)
    if not sentences or _ends_in_laughter(text, sentences) or _opens_in_laughter(sentences):
        return "chatter"
    names = split_names(people)
    if any(is_for_others(sentence, names) for sentence in sentences):
        return "others"
    found = [_classify_sentence(sentence, interrupted=interrupted) for sentence in sentences]
    return next(verdict for verdict in _VERDICT_ORDER if verdict in found)


def is_small_talk(text: str) -> bool:
    """Whether a message is only thanks, praise or emoji, and needs no answer."""
    has_data = any(mark in text for mark in ("://", "`", ">", '"', "“"))
    sentences = split_sentences(text)
    return bool(text.strip()) and not has_data and all(map(_is_small_talk_sentence, sentences))


def asks_on(text: str) -> bool:
    """Whether a text that may begin with thanks goes on to ask: "thanks but who pays"."""
    return bool(_ASKS_ON.search(text) or _ASKS_ON_UNSPACED.search(text))


def _is_small_talk_sentence(sentence: Sentence) -> bool:
    if sentence.is_question:
        return False
    joined = ["".join(clause) for clause in sentence.clauses]
    return _is_chatter(sentence.words) or all(map(is_unspaced_thanks, joined)) or _gives_thanks(sentence)


def _gives_thanks(sentence: Sentence) -> bool:
    """Whether a sentence thanks for something, or says that something was exactly right."""
    words, clauses = sentence.words, sentence.clauses
    if len(words) > MAX_CHATTER_WORDS or not phrases.QUESTION_WORDS.isdisjoint(words[:-4]):
        return False
    if len(clauses) == 1:
        return words[0] in phrases.THANKS and len(words) > 1
    if len(clauses[0]) == 1 and clauses[-1][0] in phrases.THANKS and len(clauses) == 2:
        return True
    return _is_chatter(clauses[0]) and clauses[1][0] in phrases.EXACTLY


def is_question_sentence(sentence: Sentence) -> bool:
    """Whether a sentence by itself asks or requests something."""
    inverts = any(map(phrases.INVERSION.fullmatch, _core_words(sentence)[:1]))
    return inverts or _classify_sentence(sentence, interrupted=False) == "question"


def _classify_sentence(sentence: Sentence, *, interrupted: bool) -> Verdict:
    if not is_unspaced(together := "".join(sentence.words)):
        return _classify_words(_core_words(sentence), sentence, interrupted=interrupted)
    if calls_somebody("、".join("".join(clause) for clause in sentence.clauses)):
        return "others"
    return classify_unspaced(together, asks=sentence.is_question, interrupted=interrupted)


def _classify_words(words: Words, sentence: Sentence, *, interrupted: bool) -> Verdict:
    if not words or words in phrases.INCREDULOUS or (not sentence.is_question and _is_remark_alone(words)):
        return "chatter"
    continues = len(words) > 1 and words[0] in phrases.CONJUNCTIONS
    rest = words[1:] if continues else words
    if verdict := _classify_request(rest, sentence) or _classify_personal(rest, sentence):
        return verdict
    if (len(words) > 2 or not interrupted) and (_is_question(rest, sentence) or _names_wanted(rest, sentence)):
        return "question"
    if interrupted:
        return "unclear"
    if words[0] in _GERMAN_CONJUNCTIONS:
        rest = tuple(word for word in rest if word != "im")  # "und im Sommer", not "I'm"
    leaves_out = bool(rest) and _is_incomplete_question(rest, continues=continues, marked=sentence.is_question)
    return "question" if leaves_out else "unclear"


_GERMAN_CONJUNCTIONS = phrases.parse_words("und oder aber sowie")
_EXCLAIMING = phrases.parse_words("quel quelle quels quelles")


def _is_remark_alone(words: Words) -> bool:
    """Whether words are chatter, or exclaim in French: "quel dommage"."""
    return _is_chatter(words) or (len(words) == 2 and words[0] in _EXCLAIMING)


def _core_words(sentence: Sentence) -> Words:
    """The words of a sentence without openers and the bot's name."""
    clauses = list(sentence.clauses)
    while len(clauses) > 1 and (
        _is_chatter(clauses[0]) or clauses[0] in phrases.OPENERS or clauses[0][0] in phrases.BOTS
    ):
        del clauses[0]
    words = tuple(
        part for clause in clauses for word in clause for part in phrases.CONTRACTIONS.get(word, word).split()
    )
    while len(words) > 1:
        opener = _find_start(words, phrases.OPENERS) or (words[:1] if words[0] in _LEADING else ())
        if not opener or len(opener) == len(words):
            break
        words = words[len(opener) :]
    return words


_LEADING = phrases.INTERJECTIONS | {"bitte"}


def _find_start(words: Words, patterns: Collection[Words]) -> Words:
    """The phrase that starts the words, or empty."""
    return next((pattern for pattern in patterns if words[: len(pattern)] == pattern), ())


def _is_chatter(words: Sequence[str]) -> bool:
    """Whether the words are only thanks, praise or interjections (rule 1)."""
    if start := _find_start(tuple(words), phrases.YOU_ARE):  # "you are the best, thanks"
        rest = words[len(start) :]
        return bool(rest) and (phrases.PRAISE | phrases.INTERJECTIONS | phrases.FILLERS).issuperset(rest)
    wished = words[1:] if words[0] in phrases.INTERJECTIONS - phrases.GOOD else words  # "ok, have a good day"
    if phrases.PARTING.issuperset(wished) and not (
        phrases.GOOD.isdisjoint(wished) or phrases.PARTS_OF_TIME.isdisjoint(wished)
    ):
        return True
    if "what" in words[:-1] and words[words.index("what") + 1] != "i":  # "well, what problem"
        return False
    bare = [word for word in words if not _LAUGHTER.fullmatch(word)]
    if "my" in bare and phrases.FAULTS.intersection(bare):  # "sorry, my mistake"
        bare.remove("my")
    if len(bare) > 1 and bare[-2] in {"qué", "que"} and bare[-1] in phrases.PRAISED:  # "gracias, qué bien"
        del bare[-2]
    praise = frozenset[str]() if phrases.THANKS.isdisjoint(bare) else phrases.PRAISE  # "thanks, very helpful"
    known = (phrases.INTERJECTIONS | phrases.FILLERS | praise).issuperset(bare)
    exclaims = any(map(_LAUGHTER.fullmatch, words)) or not phrases.INTERJECTIONS.isdisjoint(bare)
    return known and len(words) <= MAX_CHATTER_WORDS and exclaims


def _classify_request(words: Words, sentence: Sentence) -> Verdict | None:
    """The verdict about words that start with a request or a preface (rule 2); None for other words."""
    if start := _find_start(words, phrases.REQUESTS):
        idiom = not sentence.is_question and _IDIOM.match(" ".join(words))
        personal = idiom or sentence.clauses[0] in _ABOUT_IT or _says_you(words[len(start) :])
        return "unclear" if personal else "question"
    if start := _find_start(words, phrases.PREFACES):
        rest = words[len(start) :]
        asks = not (phrases.QUESTION_WORDS | phrases.WHETHER).isdisjoint(rest[:3])
        return "question" if asks and phrases.EFFECT.isdisjoint(rest) and not _says_you(rest[1:]) else "unclear"
    return None


def _classify_personal(words: Words, sentence: Sentence) -> Verdict | None:
    """The verdict about words for effect, about persons, or to a group (rules 3 to 5); None for other words."""
    if _is_for_effect(words, sentence):
        return "chatter"
    about_own = "my" in words and phrases.RIGHTS.isdisjoint(words)
    if about_own or _says_you(words) or _is_about_plans(words):
        return "unclear"
    return "others" if any(map(_is_about_people_present, (words, *sentence.clauses[1:]))) else None


def _is_for_effect(words: Words, sentence: Sentence) -> bool:
    """Whether the words contain a phrase for effect, a negated question, or a tag that seeks consent."""
    first, marked = words[0], sentence.is_question
    is_plain = bool(words[1:2]) and words[1] in phrases.TELLING_VERBS | phrases.QUESTION_WORDS  # "bis wann denn"
    effect = phrases.EFFECT - ({"denn"} if is_plain else set())
    if not effect.isdisjoint(words[1:]) or _find_start(words, phrases.RHETORICAL) or words == ("why", "not"):
        return True
    if (first in {"how", "why"} and "still" in words) or ("ever" in words and first not in phrases.PAST):
        return True
    reminds = first in _REMINDING and words[1:2] != () and words[1] in phrases.AUXILIARIES
    if words[-1] == "again" and not reminds and {"is", "was", "are", "were"}.isdisjoint(words):
        return True
    if first in phrases.QUESTION_WORDS and words[1:3] in {("am", "i"), ("did", "i"), ("was", "i")}:
        return True
    if first in phrases.NEGATED:
        return not marked or len(words) < 3 or words[1] in phrases.PRONOUNS
    *before, last = sentence.clauses
    seeks_consent = bool(before) and marked and (phrases.TAGS.issuperset(last) or last[0] in phrases.NEGATED)
    return seeks_consent and (first not in phrases.AUXILIARIES | phrases.QUESTION_WORDS or len(words) < 4)


# "Why did we drop it again?" asks to be reminded; "who broke it again?" does not.
_REMINDING = phrases.parse_words("why when where how what which")


def _says_you(words: Sequence[str]) -> bool:
    """Whether the words address the reader by a form of "you"; not "if you come by bike", nor the French "du"."""
    no_you = frozenset[str]() if phrases.FRENCH.isdisjoint(words) else phrases.NOT_YOU
    pairs = zip(("", *words), words, strict=False)
    return any(
        word in phrases.YOU and word not in no_you and not (word == "you" and last in phrases.CONDITIONS)
        for last, word in pairs
    )


def _is_about_plans(words: Words) -> bool:
    """Whether the words ask about the actions of a person ("did he"). "What did he" asks for a fact."""
    pairs = set(pairwise(words))
    will = {(verb, who) for verb in ("will", "would", "are", "can", "should") for who in ("he", "she", "they")}
    return not will.isdisjoint(pairs) or (words[0] in phrases.AUXILIARIES and words[1:2] in {("he",), ("she",)})


def _is_about_people_present(words: Words) -> bool:
    """Whether the words invite somebody, or are about "us" or "anybody". "Do we need a permit" asks for a fact."""
    if _find_start(words, phrases.INVITATIONS) or _asks_what_people_do(words):
        return True
    proposed = phrases.PROPOSALS - phrases.WEEKDAYS if words[0] == "what" else phrases.PROPOSALS
    if words[:2] in _HOW_ABOUT and not proposed.isdisjoint(words[2:4]) and len(words) < 5:
        return True
    asks_fact = not {("do", "we"), ("did", "we")}.isdisjoint(pairwise(words))
    allowed = words[:2] == ("are", "we") and "".join(words[2:3]).endswith("ed")
    return not (phrases.PEOPLE.isdisjoint(words) or asks_fact or allowed)


def _asks_what_people_do(words: Words) -> bool:
    """Whether the words ask what people are doing: "who is coming", "what are they planning"."""
    words = tuple(" ".join(phrases.CONTRACTIONS.get(word, word) for word in words[:3]).split()) + words[3:]
    doing = words[3:4] if words[2:3] and words[2] in phrases.PRONOUNS | phrases.PEOPLE else words[2:3]
    return words[0] in phrases.QUESTION_WORDS and words[1:2] in {("is",), ("are",)} and "".join(doing).endswith("ing")


def _is_question(words: Words, sentence: Sentence) -> bool:
    """Whether a question word, or a verb before its subject, makes a question (rule 6)."""
    marked = sentence.is_question
    if words[0] in phrases.PREPOSITIONS and words[1:2] and words[1] in phrases.QUESTION_WORDS:
        if len(words) == 2:  # "since when"
            return True
        words = words[1:]
    if words[0] in phrases.QUESTION_WORDS:
        alone = len(words) == 1 and words[0] in phrases.AMBIGUOUS_WORDS - {"when", "where", "why"}
        return (marked and not alone) or _is_unmarked_question(words) or _asks_what_happened(words)
    if (
        words[-1] in phrases.LAST_QUESTION_WORDS
        or "combien" in words
        or (words[0] == "cest" and words[1:2] and words[1] in phrases.IN_PLACE)
    ):
        return _NOT_KNOWING.isdisjoint(words)
    if len(words) > 2 and words[0] in phrases.AUXILIARIES | phrases.NEGATED:
        return marked or _is_inverted(words)
    if len(words) > 1 and words[0] in phrases.INVERTED:
        return marked or words[0] in phrases.UNMARKED_INVERTED or _is_german_question(words)
    return marked and any(_asks(clause) for clause in sentence.clauses[1:])


_NOT_KNOWING = phrases.parse_words("pas sais não nao sei no sé nimporte")


def _is_unmarked_question(words: Words) -> bool:
    """Whether a question word needs no question mark: "when does", "who pays"; not "when I was", "who did"."""
    first, *rest = words
    if not rest or words[:2] in _HOW_ABOUT:
        return 1 < len(words) <= MAX_FRAGMENT_WORDS
    if rest[0] in phrases.AUXILIARIES:
        return len(rest) > 1 or rest[0] in {"is", "are", "was"}
    if first in {"who", "was"}:
        return (
            rest[0].endswith("s") or rest[0] == "else"
            if first == "who"
            else _is_inverted(words) or rest[0] in phrases.AFTER_AMBIGUOUS_WORD
        )
    if first not in phrases.AMBIGUOUS_WORDS:
        return first != "qué" or len(rest) > 1
    if rest[0] in phrases.SUBJECTS:
        return False
    inverted = any(verb in phrases.AUXILIARIES and subject != "that" for verb, subject in pairwise(rest[1:5]))
    return rest[0] in phrases.AFTER_AMBIGUOUS_WORD or inverted


def _asks_what_happened(words: Words) -> bool:
    """Whether the words ask for a past event: "what changed since May", "who decided that"; not "who moved it all"."""
    if len(words) < 3 or not words[1].endswith("ed"):
        return False
    first, rest = words[0], words[2:]
    return first == "what" or (first == "who" and len(rest) == 1 and rest[0] in {"that", "this", "it"})


def _is_inverted(words: Words) -> bool:
    """Whether a verb stands before its subject: "does the", "is it", "was there"."""
    first, second = words[:2]
    if first in {"does", "did", "do", "are"}:
        return True
    if first in {"may", "might", "must", "will", "were", "was"}:
        return second in {"i", "it", "there", "this", "that", "the", "they", "all"}
    return first not in {"have", "had"} and second in phrases.SUBJECTS


def _is_german_question(words: Words) -> bool:
    """Whether a German verb stands before its subject."""
    subject = len(words) > 2 and words[1] in {"das", "der", "die", "es", "man"}
    return subject and words[2] not in {"nicht", "ja", "doch", "so", "super"}


def _names_wanted(words: Words, sentence: Sentence) -> bool:
    """Whether the words name what is wanted: "link to the runbook?", "tl;dr"."""
    if words[0] == "tldr":
        return True
    if len(words) > 1 and words[0] in phrases.ARTICLES:
        words = words[1:]
    return sentence.is_question and words[0] in phrases.WANTED and len(words) <= MAX_FRAGMENT_WORDS


def _asks(clause: Words) -> bool:
    """Whether a later clause is a question: "According to Bob, who pays?", "the fee, is it refundable?"."""
    return clause[0] in phrases.QUESTION_WORDS or (len(clause) > 2 and clause[0] in phrases.AUXILIARIES)


def _is_incomplete_question(words: Words, *, continues: bool, marked: bool) -> bool:
    """Whether the words are a question without a verb, or a statement with a question mark (rule 7)."""
    if not marked:
        finite = any(word in phrases.NO_ELLIPSIS or word.endswith("ed") for word in words)
        return continues and len(words) <= MAX_UNMARKED_ELLIPSIS_WORDS and not finite
    if continues and len(words) <= MAX_ELLIPSIS_WORDS:
        return True
    closed = words[0] in phrases.FRAGMENT_STARTS or words[-1] in {"too", "either"}
    statement = phrases.FIRST_PERSON.isdisjoint(words) and not phrases.THIRD_PERSON.isdisjoint(words)
    return (closed and 1 < len(words) <= MAX_FRAGMENT_WORDS) or (statement and len(words) > 3)


def _opens_in_laughter(sentences: Sequence[Sentence]) -> bool:
    """Whether a message laughs first and asks without a question mark: "lol who writes that"."""
    return bool(_LAUGHTER.fullmatch(sentences[0].words[0])) and not any(sentence.is_question for sentence in sentences)


def _ends_in_laughter(text: str, sentences: Sequence[Sentence]) -> bool:
    end = text.rstrip()[-40:]
    code = SHORTCODE.findall(end[-24:])
    if code and end.endswith(":") and code[-1] in phrases.LAUGHTER:
        return True
    if end.rstrip("!.)️‍♂♀")[-1:] in phrases.LAUGHTER or end.endswith(_LAUGHING_MARKS):
        return True
    last = sentences[-1].words[-1]
    return last in phrases.LAUGHTER or bool(_LAUGHTER.fullmatch(last))
