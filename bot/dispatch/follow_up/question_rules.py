"""Whether a message that does not mention the bot asks it something: rules over its words alone. Pure.

The rules prefer silence: a question that is missed can be asked again with a mention, an answer that nobody wanted
cannot be taken back.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from bot.dispatch.follow_up import phrases, preambles, social_patterns
from bot.dispatch.follow_up.addressee import is_for_others
from bot.dispatch.follow_up.chat_sentences import SHORTCODE, Sentence, normalize_word, split_sentences
from bot.dispatch.follow_up.unspaced_questions import calls_somebody, classify_unspaced, is_unspaced

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

Verdict = Literal["question", "unclear", "chatter", "others"]
_VERDICT_ORDER: tuple[Verdict, ...] = ("question", "others", "unclear", "chatter")  # of several sentences

MAX_ELLIPSIS_WORDS = 6  # words that "and …" may have and still be a question
MAX_CHATTER_WORDS = 9  # words of thanks
MIN_STATEMENT_WORDS = 4  # words from which on "when the …" is no question without its mark


def classify_message(text: str, people: Collection[str] = (), *, interrupted: bool = False) -> Verdict:
    """What a message in a thread with the bot is.

    `people` are the names of those who talk there. `interrupted`: somebody else spoke after the bot's last answer, so
    that only a question which is complete in itself is one to the bot. "unclear": a statement, or a question to whom
    is not told; a model may know better. "others": surely meant for somebody else.
    """
    sentences = split_sentences(text)
    if not sentences:
        return "chatter"
    names = frozenset(normalize_word(part) for name in people for part in name.split())
    if any(is_for_others(sentence, names) for sentence in sentences):
        return "others"
    found = [_classify_sentence(sentence, interrupted=interrupted) for sentence in sentences]
    if _ends_in_laughter(text, sentences):
        return "chatter"
    if len(found) > 1 and found[-1] == "unclear" and not any(_is_full_question(each) for each in sentences):
        return "unclear"  # "The ferry? Never again."
    return next(verdict for verdict in _VERDICT_ORDER if verdict in found)


def is_small_talk(text: str) -> bool:
    """Whether it is only thanks, praise or emoji, so that there is nothing to answer."""
    return bool(text.strip()) and all(_is_chatter(each) for each in split_sentences(text)) and not _has_data(text)


def _has_data(text: str) -> bool:
    """Whether something is left out of its sentences that may be asked about: an address, code, a quotation."""
    return any(mark in text for mark in ("://", "`", ">", '"', "“"))


def _starts_with(words: Sequence[str], patterns: Collection[tuple[str, ...]]) -> bool:
    return any(tuple(words[: len(pattern)]) == pattern for pattern in patterns)


# What it is.


_AFTER_QUESTION_WORD = {
    **dict.fromkeys(("what", "was", "qué", "wat"), phrases.AFTER_WHAT),
    **dict.fromkeys(("how", "wie", "hoe", "cómo", "comment"), phrases.MEASURES | phrases.AFTER_WHAT),
}


def _classify_sentence(sentence: Sentence, *, interrupted: bool) -> Verdict:
    if not is_unspaced(together := "".join(sentence.words)):
        return _classify_spaced(sentence, interrupted=interrupted)
    if calls_somebody("、".join("".join(clause) for clause in sentence.clauses)):
        return "others"
    return classify_unspaced(together, asks=sentence.is_question, interrupted=interrupted)


def _classify_spaced(sentence: Sentence, *, interrupted: bool) -> Verdict:
    words = _core_words(sentence)
    if not words or (_is_chatter(sentence) and not _starts_with(words, phrases.REQUESTS)):
        return "chatter"
    if words in phrases.SMALL_QUESTIONS or (_is_rhetorical(words) and not social_patterns.is_sincere(words)):
        return "chatter"
    if (
        _starts_with(words, phrases.INVITATIONS)
        or social_patterns.is_social(words)
        or (set(words[-1:]) & phrases.INDEFINITE_PRONOUNS and not social_patterns.asks_about_everyone(words))
        or (sentence.is_question and set(words) & phrases.SOCIAL and len(words) <= 3)
    ):
        return "others"
    if interrupted and not (_has_question_form(words, asks=sentence.is_question) and len(words) > 2):
        return "unclear"
    if _starts_with(words, phrases.REQUESTS) and social_patterns.is_not_request(words, sentence.clauses[0]):
        return "chatter"
    asks = _asks_something(sentence, words) and not _is_personal(words, asks=sentence.is_question)
    return "question" if asks or _starts_with(words, phrases.REQUESTS) or _is_prefaced(words) else "unclear"


def _is_personal(words: Sequence[str], *, asks: bool) -> bool:
    """Whether people as likely ask each other, or complain.

    It is a single word, asks whether he or she does something, what "we" could do, about "my" things, or, unmarked,
    who did something.
    """
    if len(words) == 1:
        return words[0] not in phrases.QUESTION_WORDS
    if words[0] == "who" and not asks and words[1] not in phrases.AUXILIARIES and not words[1].endswith("s"):
        return True
    if words[0] in phrases.AUXILIARIES and words[1] in {"he", "she"}:
        return True
    if words[0] in {"can", "could"} and words[1] == "we":
        return True
    return "my" in words and phrases.MODALS.isdisjoint(words)


def _is_full_question(sentence: Sentence) -> bool:
    """Whether it is more than a few words with a question mark."""
    words = _core_words(sentence)
    if words and words[0] in phrases.CONJUNCTIONS | phrases.ADVERBS:
        return True
    return bool(words) and (
        _starts_with(words, phrases.REQUESTS) or _has_question_form(words, asks=sentence.is_question)
    )


def _core_words(sentence: Sentence) -> tuple[str, ...]:
    """Its words without thanks and interjections at the beginning, and without the bot's own name."""
    clauses = list(sentence.clauses)
    while len(clauses) > 1 and _is_chatter(Sentence((clauses[0],), (), is_question=False)):
        del clauses[0]
    if clauses and clauses[0][0] in phrases.BOTS and len(clauses) > 1:
        del clauses[0]
    words = _without_interjections(
        tuple(phrases.ABBREVIATIONS.get(word, word) for clause in clauses for word in clause)
    )
    opener = next((each for each in preambles.OPENERS if words[: len(each)] == each), ())
    words = _without_interjections(words[len(opener) :]) or words
    while (
        len(words) > 1
        and words[0] in phrases.ADVERBS | {"please", "bitte"}
        and words[1] not in phrases.FILLERS - {"in", "on"}
    ):
        words = words[1:]
    return words


def _without_interjections(words: tuple[str, ...]) -> tuple[str, ...]:
    while words and words[0] in phrases.INTERJECTIONS:
        words = words[1:]
    return words


def _is_chatter(sentence: Sentence) -> bool:
    """Whether it is thanks, praise or an interjection, and nothing more."""
    words = sentence.words
    if sentence.is_question or len(words) > MAX_CHATTER_WORDS or not (set(words) & phrases.INTERJECTIONS):
        return False
    return all(word in phrases.INTERJECTIONS or word in phrases.FILLERS for word in words)


def _is_rhetorical(words: Sequence[str]) -> bool:
    bare = words[1:] if len(words) > 1 and words[0] in phrases.CONJUNCTIONS | phrases.ADVERBS else words
    if (
        _starts_with(bare, phrases.RHETORICAL)
        or social_patterns.is_retort(bare)
        or not phrases.RHETORICAL_WORDS.isdisjoint(bare)
    ):
        return True
    wondering = bare[0] in phrases.QUESTION_WORDS and bare[0] not in {"which", "what"}
    complains = (bare[0] == "why" and "always" in bare) or tuple(bare[-2:]) == ("or", "what")
    return complains or (wondering and (bare[-1] == "anyway" or "even" in bare[1:3]))


def _is_prefaced(words: Sequence[str]) -> bool:
    """Whether a question is put as a statement: "I was wondering whether …"."""
    bare = [word for word in words if word not in phrases.PADDING]
    wondering = not (phrases.QUESTION_WORDS | phrases.WHETHER).isdisjoint(bare[2:8])
    return wondering and _starts_with(bare, preambles.PREFACES) and phrases.YOU.isdisjoint(words)


def _asks_something(sentence: Sentence, words: tuple[str, ...]) -> bool:
    if not phrases.YOU.isdisjoint(_without_generic_you(words)) or social_patterns.addresses_familiarly(words):
        return _asks_the_bot(words)
    if words[0] in phrases.CONJUNCTIONS and len(words) > 1:
        rest = words[1:]
        if not sentence.is_question:
            german = words[0] in {"und", "oder"} and rest[0] == "im"  # else "I'm"
            leaves_out = words[0] not in phrases.OBJECTIONS and _is_ellipsis(rest[1:] if german else rest)
            return leaves_out or _has_question_form(rest, asks=False) or _starts_with(rest, phrases.REQUESTS)
    if sentence.is_question:
        return not _is_tag_question(sentence)
    return _has_question_form(words, asks=False)


def _without_generic_you(words: Sequence[str]) -> list[str]:
    """The words without a "you" that is anybody: "where is the entrance if you come by bike"; "du projet" is none."""
    no_you = {"you"} if phrases.FRENCH.isdisjoint(words) else {"you", "du"}
    return [
        word
        for last, word in zip(("", *words), words, strict=False)
        if word not in no_you or (word == "you" and last not in phrases.CONDITIONS)
    ]


def _asks_the_bot(words: Sequence[str]) -> bool:
    """Whether "you" may be the bot: "can you tell me", "what is your source"."""
    if words[0] in phrases.CONJUNCTIONS:
        words = words[1:]
    if len(words) > 2 and words[0] in phrases.CAN_YOU and words[1] in {"you", "u"}:
        rest = [word for word in words[2:] if word not in phrases.SOFTENERS]
        told = rest[1] if len(rest) > 1 else ""
        checks = rest[:1] == ["check"] and told in {"if", "whether", "when", "who", "what", "where"}
        return checks or (rest[:1] != [] and rest[0] in phrases.INFORMING_VERBS and told not in {"him", "her", "them"})
    at = next((at for at, word in enumerate(words) if word in phrases.YOU), 0)
    if words[at + 1 : at + 2] and words[at + 1] in phrases.MEANT:
        return True  # "is this the version you mean"
    shared = at + 1 < len(words) and words[at] in {"your", "yours"} and words[at + 1] in phrases.SHARED_WITH_YOU
    return shared or _starts_with(words, phrases.REQUESTS)


def _is_tag_question(sentence: Sentence) -> bool:
    """Whether a statement only seeks consent: "nice weather, right?"; but not "so that is €35, right?"."""
    *before, last = sentence.clauses
    inverted = len(last) in {2, 3} and last[0] in phrases.AUXILIARIES and last[-1] in phrases.PRONOUNS
    if not before or not (inverted or all(word in phrases.TAGS for word in last)):
        return False
    words = [word for clause in before for word in clause]
    inquires = words[0] in phrases.ADVERBS | phrases.AUXILIARIES and _has_question_form(words, asks=True)
    return not (words[0] in phrases.ADVERBS or inquires or any(map(str.isdigit, "".join(words))))


def _is_ellipsis(rest: Sequence[str]) -> bool:
    """Whether "and …" leaves its verb to the question before: "and on Sundays"."""
    if len(rest) > MAX_ELLIPSIS_WORDS or rest[0] in phrases.CLOSED | phrases.INTERJECTIONS | phrases.PRONOUNS:
        return False
    finite = any(word in phrases.FINITE_VERBS or (len(word) > 4 and word.endswith("ed")) for word in rest)
    return not finite and phrases.PRONOUNS.isdisjoint(rest)


def _has_question_form(words: Sequence[str], *, asks: bool) -> bool:
    """Whether it has the form of a question, with or without its mark."""
    first, second = words[0], words[1] if len(words) > 1 else ""
    if first in phrases.PREPOSITIONS:
        return second in phrases.QUESTION_WORDS and (asks or len(words) > 2)
    if first in phrases.QUESTION_WORDS and (asks or _is_wh_question(first, words[1:])):
        return True
    if first in phrases.AUXILIARIES and (asks or _is_inverted(first, words[1:])):
        return True
    return (
        first in {"gilt", "gibts", "hay"}
        or _starts_with(
            words, (("se", "puede"), ("y", "a-t-il"), ("cest", "quand"), ("cest", "où"), ("cest", "combien"))
        )
        or social_patterns.is_foreign_inversion(words)
    )


def _is_wh_question(first: str, rest: Sequence[str]) -> bool:
    """Whether "who …" without a question mark asks; "when I was there" and "how nice" do not."""
    if not rest:
        return first not in {"what", "was", "which", "wie", "wat"}
    measured = len(rest) > 2 and first in {"what", "which"} and rest[1] in phrases.AUXILIARIES
    subject = rest[2] if measured else rest[1] if len(rest) > 1 else ""  # "what level do I need", "where did I …"
    if subject in phrases.PRONOUNS and rest[0] not in phrases.PRONOUNS:
        return True
    if rest[0] in phrases.AUXILIARIES:
        return first != "which" or (len(rest) > 1 and rest[1] not in phrases.EXCLAIMED)
    if first in _AFTER_QUESTION_WORD:
        return rest[0] in _AFTER_QUESTION_WORD[first]
    if first in phrases.SURE_QUESTION_WORDS - {"which"}:
        return True
    short = len(rest) < MIN_STATEMENT_WORDS or rest[0] in phrases.AFTER_WHAT or first == "which"
    return short and rest[0] not in phrases.PRONOUNS | phrases.RELATIVE


def _is_inverted(first: str, rest: Sequence[str]) -> bool:
    """Whether "is the …" without a question mark asks."""
    if len(rest) > 1 and first in {"are", "does", "did"}:
        return rest[0] not in {"nothing", "not", "it", "so", "just", "well", "too", "never", "as"} or len(rest) > 2
    if len(rest) < 2 or rest[0] not in phrases.SUBJECTS:
        return False
    if first in {"do", "have", "may", "might"}:
        return rest[0] in {"i", "we", "they", "dogs", "children", "all"}
    return first not in {"was", "were"} or rest[0] in {"it", "that", "this", "there", "they", "he", "she"}


def _ends_in_laughter(text: str, sentences: Sequence[Sentence]) -> bool:
    """Whether it ends in laughter: then it is no question, whatever it asks."""
    end = text.rstrip()[-40:]
    code = SHORTCODE.findall(end[-24:])
    if code and end.endswith(":") and code[-1] in phrases.LAUGHTER:
        return True
    tail = end.rstrip("!.)️‍♂♀")
    if tail[-1:] in phrases.LAUGHTER or end.endswith((";)", ";-)", ":P", ":p", ":D", "xD", "/s")):
        return True
    return any(word in phrases.LAUGHTER or social_patterns.is_laughter(word) for word in sentences[-1].words[-1:])
