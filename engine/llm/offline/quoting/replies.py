"""Find what answers a question in a conversation, and what explains a sentence. Pure."""

from __future__ import annotations

from datetime import timedelta
from itertools import takewhile
from typing import TYPE_CHECKING

from engine.llm.offline.points.open_questions import is_direct_answer, list_later_replies, split_question
from engine.llm.offline.questions.analysis import has_answer_type
from engine.llm.offline.words import content_stems, count_words

if TYPE_CHECKING:
    from collections.abc import Sequence

    from engine.llm.offline.candidates import Candidate

MAX_CONTINUATION = 2  # further sentences
MAX_DELAY, MIN_WORDS = timedelta(hours=1), 5  # of a message that may explain the one before it
REPLY_WINDOW = 3  # number of following messages that may answer


def find_reply(at: int, candidates: Sequence[Candidate]) -> int | None:
    """The message by somebody else that answers the question of a message; None if there is none.

    It is one of the next of the conversation, or one of the channel that soon after begins like an answer.
    """
    asked = candidates[at]
    if not asked.speaker:
        return None
    for place in _list_following(at, candidates):
        if not candidates[place].is_question and candidates[place].speaker != asked.speaker:
            return place
    later = list_later_replies(asked, candidates)
    return next((candidates.index(reply) for reply in later if is_direct_answer(reply.text)), None)


def repeats_question(one: Candidate, stems: frozenset[str]) -> bool:
    """Whether a message asks what these words of a clause ask, rather than say something about it."""
    if not one.speaker:
        return False
    asked, rest = (len(stems & content_stems(part)) for part in split_question(one.text))
    return asked > rest or (one.is_question and asked == rest)


def find_explanation(at: int, candidates: Sequence[Candidate]) -> list[int]:
    """What gives the reason for a sentence that gives none.

    In a conversation: a following message with a reason, or the reply to a question that follows, with the question;
    else the message that soon follows.
    In a document: the sentence after it or, if only that before it has a reason, that one.
    """
    if has_answer_type(candidates[at].text, "reason"):
        return []
    return _explain_message(at, candidates) if candidates[at].speaker else _explain_sentence(at, candidates)


def find_continuation(at: int, candidates: Sequence[Candidate]) -> list[int]:
    """The next sentences of the same passage of prose: how to do something takes several."""
    following = range(at + 1, min(at + 1 + MAX_CONTINUATION, len(candidates)))
    return list(takewhile(lambda place: _is_beside(at, place, candidates), following))


def _explain_message(at: int, candidates: Sequence[Candidate]) -> list[int]:
    following = _list_following(at, candidates)
    for place in following:
        if candidates[place].is_question:
            reply = find_reply(place, candidates)
            return [place, reply] if reply is not None else []
        if has_answer_type(candidates[place].text, "reason"):
            return [place]
    return [place for place in following[:1] if _may_explain(at, place, candidates)]


def _may_explain(at: int, place: int, candidates: Sequence[Candidate]) -> bool:
    """Whether a message soon follows another one and says something."""
    time, later = candidates[at].source.time, candidates[place].source.time
    is_soon = time is not None and later is not None and later - time <= MAX_DELAY
    return is_soon and count_words(candidates[place].text) >= MIN_WORDS


def _explain_sentence(at: int, candidates: Sequence[Candidate]) -> list[int]:
    near = [place for place in (at + 1, at - 1) if 0 <= place < len(candidates)]
    beside = [place for place in near if _is_beside(at, place, candidates)]
    reasons = [place for place in beside if has_answer_type(candidates[place].text, "reason")]
    return reasons[:1] or [place for place in beside if place > at][:1]


def _is_beside(at: int, place: int, candidates: Sequence[Candidate]) -> bool:
    """Whether two sentences stand in one passage of prose."""
    other = candidates[place]
    return other.source is candidates[at].source and not other.is_title and other.is_item == candidates[at].is_item


def _list_following(at: int, candidates: Sequence[Candidate]) -> list[int]:
    """The next messages of the conversation, in order of time."""
    document, time = candidates[at].source.document, candidates[at].source.time
    if time is None:
        return []
    later = [
        (each.source.time, place)
        for place, each in enumerate(candidates)
        if each.source.document == document and each.source.time and place != at
        if each.source.time > time or (each.source.time == time and place > at)
    ]
    return [place for _, place in sorted(later)[:REPLY_WINDOW]]
