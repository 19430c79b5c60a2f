"""Recognize questions that nobody has answered yet. Pure.

The next message of a channel is often about something else, so that a reply counts as an answer only if it is about the
question: by its words, by what is asked for, by the name of who asked, or because it begins like an answer.
"""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING

from engine.llm.offline.questions.analysis import answer_type, has_answer_type
from engine.llm.offline.words import count_words, is_generic, split_words
from engine.text.languages.unspaced import has_unspaced
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate

MIN_QUESTION_WORDS = 3
MIN_UNSPACED_CHARACTERS = 6  # of a question in a script without spaces
_ANSWER_WINDOW = 3  # number of following messages that may answer a question
_FRAGMENT_WORDS = 6  # of a reply that is a part of a sentence, such as "Behind the shed, next to the ladder."
_SHORT_WORDS = 3  # of one that answers whatever it is
_LATE_ANSWER = timedelta(hours=24)  # until which one of another conversation of the channel may
_OPEN = compile_late(
    r"\A\W{0,4}(?:open|offen|abierto|ouvert|aberto)\s?:|"
    r"\b(?:open question|still open|(?:still |yet )unclear|not clear(?: yet)?|"
    r"not yet (?:known|clear|decided|settled)|remains? to be|(?:is|are) to be found|"
    r"to be (?:decided|confirmed|clarified|announced)|undecided|unresolved|nobody knows|tbd|tbc|offene frage|"
    r"noch offen|"
    r"noch (?:nicht geklärt|zu klären)|unklar|por decidir|pendiente de decidir|queda por|reste à|à confirmer|"
    r"à décider|por definir|em aberto|a confirmar)\b|未定|未決|検討中",
    re.IGNORECASE,
)
_INDIRECT = compile_late(
    r"\b(?:(?:does|do) any(?:one|body) know|any(?:one|body) know|(?:can|could) (?:some|any)(?:one|body) (?:tell|"
    r"say|check)|"
    r"i wonder (?:who|what|when|where|why|how|if|whether)|weiß (?:jemand|wer|einer)|kann (?:mir )?jemand|"
    r"alguien sabe|sabe alguien|quelqu.un sait|qui sait|alguém sabe)\b|(?:誰か|どなたか).{0,40}(?:知|教え)|"
    r"(?:です|ます|"
    r"でしょう)か[。\s]*$",
    re.IGNORECASE,
)
_QUESTION_END = compile_late(r"(?:\A|(?<=[.!?？。！]))[^.!?？。！]{3,}+[?？]+")
_NO_ANSWER = compile_late(
    r"\b(?:no idea|not sure|don.t know|do not know|good question|who knows|will ask|.ll (?:ask|check|look|find out)|"
    r"let me (?:check|ask|see|look)|keine ahnung|weiß (?:ich )?(?:es )?(?:auch )?nicht|gute frage|ich (?:frage|"
    r"schaue)|"
    r"ni idea|no (?:lo )?sé|buena pregunta|aucune idée|sais pas|bonne question|não sei|boa pergunta|vou (?:ver|"
    r"perguntar))\b|"
    r"わから(?:ない|ん|ず)|分から(?:ない|ん)|確認します",
    re.IGNORECASE,
)
_DIRECT_ANSWER = compile_late(
    r"(?:yes|yep|yeah|no|nope|not|sure|ok(?:ay)?|done|right|correct|exactly|of course|please|"
    r"(?:i|we)(?:.ve| have| do| did| can|.m| am| are)|ja|nein|doch|nicht|klar|erledigt|ich (?:habe|bin)|"
    r"sí|claro|hecho|oui|non|bien sûr|sim|não|はい|いいえ|"
    # Who it was, or whose it is.
    r"me|mine|(?:it|that) (?:was|is) (?:me|mine)|meine?[rs]?|(?:das|es) (?:war|ist) (?:ich|meine?[rs]?)|"
    r"ich war(?:.?s)?|"
    r"yo|fui yo|(?:es )?mí[oa]|moi|c.(?:est|était) moi|(?:c.est )?(?:le mien|la mienne)|eu|fui eu|(?:é )?(?:meu|minha)|"
    r"(?:私|僕|俺)(?:です|の)?)(?!\w)",
    re.IGNORECASE,
)
# A reply that begins so goes on from the question.
_CONTINUES = compile_late(
    r"(?:it|he|she|they|there|that|those|behind|below|under|above|on|in|at|next|near|by|with|from|to|after|before|until|"
    r"because|since|for|maybe|probably|tomorrow|today|only|about|er|sie|es|hinter|unter|auf|im|in|bei|neben|mit|von|vor|"
    r"nach|weil|morgen|heute|nur|está|están|en|detrás|debajo|sobre|con|desde|hasta|porque|mañana|hoy|solo|il|elle|c.est|"
    r"derrière|sous|sur|dans|avec|chez|après|avant|parce|demain|seulement|ela|ele|atrás|debaixo|no|na|com|depois|amanhã|"
    r"hoje)(?!\w)",
    re.IGNORECASE,
)
_POLITE = compile_late(
    r"\W{0,8}(?:how are you|how is it going|how.s it going|what.s up|right|ok(?:ay)?|see you|wie geht|alles klar|"
    r"qué tal|cómo estás|ça va|comment ça va|tudo bem|お元気)",
    re.IGNORECASE,
)


def is_open_question(at: int, candidates: Sequence[Candidate]) -> bool:
    """Whether it is a question that no other speaker answers soon after, or states that something is open."""
    one = candidates[at]
    if not one.speaker or not asks(one.text):
        return (not one.is_question or not one.speaker) and bool(_OPEN.search(one.text))
    return not any(_answers(one, each, rank) for rank, each in enumerate(_list_replies(at, candidates)))


def asks(text: str) -> bool:
    """Whether a message asks something, wherever in it the question stands."""
    asked = [found[0].strip() for found in _QUESTION_END.finditer(text)]
    if not asked and not _INDIRECT.search(text):
        return False
    question = max(asked, key=len, default=text)
    if _POLITE.match(question):
        return False
    enough = MIN_UNSPACED_CHARACTERS if has_unspaced(question) else 0
    return len(question) >= enough if enough else len(question.split()) >= MIN_QUESTION_WORDS


def _list_replies(at: int, candidates: Sequence[Candidate]) -> list[Candidate]:
    """What other speakers said next in the same conversation, then in others of the channel soon after."""
    one = candidates[at]
    following = [candidate for candidate in candidates[at + 1 :] if candidate.source.document == one.source.document]
    same = [candidate for candidate in following[: 2 * _ANSWER_WINDOW] if candidate.speaker != one.speaker]
    return [*same, *list_later_replies(one, candidates)]


def _answers(one: Candidate, reply: Candidate, rank: int) -> bool:
    """Whether a reply answers a question; `rank`: how many other replies come before it."""
    is_direct, is_same = bool(_DIRECT_ANSWER.match(reply.text)), reply.source.document == one.source.document
    if asks(reply.text) or _NO_ANSWER.match(reply.text) or (_NO_ANSWER.search(reply.text) and not is_direct):
        return False
    if is_direct or not is_same:
        return is_direct and (not is_same or rank < _ANSWER_WINDOW)
    return _is_about(one, reply) or (not rank and _fits(one, reply))


def _fits(one: Candidate, reply: Candidate) -> bool:
    """Whether the first reply has what is asked for, or is only a part of a sentence."""
    kind, length = answer_type(one.text), count_words(reply.text)
    if kind in {"time", "price", "quantity"} and has_answer_type(reply.text, kind):
        return True
    if kind == "reason" and length > _SHORT_WORDS and reply.source.document == one.source.document:
        return True
    return length <= _SHORT_WORDS or (length <= _FRAGMENT_WORDS and bool(_CONTINUES.match(reply.text)))


def _is_about(one: Candidate, reply: Candidate) -> bool:
    """Whether a reply shares a word with the question that is not generic, or names who asked."""
    speakers = {word.casefold() for speaker in (one.speaker, reply.speaker) for word in split_words(speaker)}
    about = {word for word in one.stems if not is_generic(word)} - speakers
    named = {word.casefold() for word in split_words(reply.text)} & {
        word.casefold() for word in split_words(one.speaker)
    }
    return bool(about & set(reply.stems)) or bool(named)


def is_direct_answer(text: str) -> bool:
    """Whether a message begins like an answer, whatever was asked: "yes", "I did", "mine"."""
    return bool(_DIRECT_ANSWER.match(text)) and not asks(text) and not _NO_ANSWER.search(text)


def split_question(text: str) -> tuple[str, str]:
    """What a message asks, and the rest of it."""
    return " ".join(_QUESTION_END.findall(text)), _QUESTION_END.sub(" ", text)


def list_later_replies(one: Candidate, candidates: Sequence[Candidate]) -> list[Candidate]:
    """What other speakers said next in other conversations of the channel."""
    asked = one.source.time
    if asked is None or not one.source.room:
        return []
    later = [
        (each.source.time, at)
        for at, each in enumerate(candidates)
        if each.source.room == one.source.room and each.source.document != one.source.document
        if each.source.time is not None and asked < each.source.time <= asked + _LATE_ANSWER
    ]
    found = [candidates[at] for _, at in sorted(later)[:_ANSWER_WINDOW]]
    return [clause for clause in found if clause.speaker not in {"", one.speaker} and not clause.is_question]
