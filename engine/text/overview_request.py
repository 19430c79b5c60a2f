"""Recognize requests to summarize a place or a time span, by their words. Pure.

"What was decided lately?", "Summarize this thread", "What happened since Monday?": these name no subject, so a search
would not find their answer; they are answered from all messages of the span. A question with a subject is not one.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from engine.models import Overview
from engine.text.time_spans import TimeSpan, parse_time_span
from engine.text.word_lists import STOP_WORDS, word_set

if TYPE_CHECKING:
    from datetime import datetime

    from engine.models import OverviewKind, Question

_WORD = re.compile(r"[^\W_]+(?:[-'’:][^\W_]+)*")
MAX_REQUEST_CHARACTERS = 200  # a longer question has a subject

_SUMMARIZE = word_set(
    """
    summarise summarize summarised summarized summarising summarizing summary summaries tldr recap overview digest
    rundown catch miss missed zusammenfassen zusammenfassung fasse fass zusammen überblick verpasst resume resumen
    resumir resúmeme resumir perdí perdido résume résumé résumer resumer raté manqué
    """
)
# With these words, only a place or a time makes a question a request for a summary.
_HAPPENED = word_set(
    """
    happened happening happen discussed discuss said talked new news going passiert geschehen besprochen gesagt neues
    neu los pasó pasado novedades nuevo passé nouveau neuf
    """
)
_DECIDED = word_set(
    """
    decided decide decision decisions resolved agreed resolutions entschieden entscheidung entscheidungen beschlossen
    beschluss beschlüsse decidió decidido decidieron decisión decisiones acordó acordado décidé décision décisions
    """
)
_ASKED = word_set("question questions frage fragen pregunta preguntas point points issue issues items item todo todos")
_OPEN = word_set(
    """
    open unanswered outstanding pending unresolved answered offen offene offenen unbeantwortet abiertas abierta
    pendientes pendiente ouvertes ouverte réponse respuesta
    """
)
_FILL = word_set(
    """
    lately recently recent latest so far please pls plz short brief quick quickly main key important last since
    said written
    made asked posted everyone everybody people up speed date bring give show list tell whole entire things stuff all
    everything anything going went yet still left team group want need like could you tl dr most dieser diesen dieses
    diese diesem zuletzt kürzlich letzter zeit alles bitte kurz mir uns seit gab gibt wurde wurden habe hat noch
    welche welcher hier eine ich wir man nous yo he este esta esto últimamente recientemente todo todos aquí favor
    quedan hay fue fueron desde se me qué ce cette récemment dernièrement tout ici a-t-on quelles qu'est-ce sont j'ai
    s'est depuis sans été what's whats
    """
)
_THREAD = word_set("thread conversation discussion exchange gespräch diskussion unterhaltung hilo conversación fil")
_CHANNEL = word_set("channel room here kanal raum hier canal sala aquí salon ici")
_EVERYWHERE = word_set("everywhere anywhere channels workspace server überall kanäle canales canaux partout")
_STILL = word_set("still noch aún todavía encore")
_IS = word_set("is are were ist sind")  # start a question about one subject
_NEWS = ({"what's", "new"}, {"what", "is", "new"}, {"whats", "new"}, {"was", "gibt", "es", "neues"})
_CHANNEL_NAME = re.compile(r"#([^\W_][\w-]{0,79})")
_POINTS_BACK = word_set("that it he she they why how where when him her them das es ihn sie wann warum eso cela ça")


@dataclass(frozen=True, slots=True)
class OverviewRequest:
    """A request for an overview. `place`: the place it names. `is_catch_up`: it asks for what the asker missed.

    `channel`: the name of another channel in the request, without "#".
    """

    overview: Overview
    place: Literal["", "thread", "channel", "everywhere"]
    time_span: TimeSpan
    is_catch_up: bool
    channel: str = ""


def parse_overview_request(text: str, now: datetime) -> OverviewRequest | None:
    """The overview that a question requests; None for any other question."""
    if len(text) > MAX_REQUEST_CHARACTERS:
        return None
    channels = _CHANNEL_NAME.findall(text)
    span, words = parse_time_span(_words(text), now)
    present = set(words)
    if len(channels) > 1 or (words[:1] and words[0] in _IS and present & _OPEN and "there" not in present):
        return None
    kind = _parse_kind(
        present,
        placed=bool(present & (_THREAD | _CHANNEL | _EVERYWHERE))
        or span.is_bounded
        or bool(present & {"lately", "recently"}),
    )
    known = STOP_WORDS | _FILL | _SUMMARIZE | _HAPPENED | _DECIDED | _ASKED | _OPEN | _THREAD | _CHANNEL | _EVERYWHERE
    if kind is None or not present <= known:
        return None
    place: Literal["", "thread", "channel", "everywhere"] = ""
    for name, named in (("thread", _THREAD), ("everywhere", _EVERYWHERE), ("channel", _CHANNEL)):
        if present & named:
            place = name  # type: ignore[assignment]
            break
    recent = not span.is_bounded and (kind != "summary" or not place)
    missed = bool(present & {"miss", "missed", "verpasst", "perdí"})
    return OverviewRequest(Overview(kind, recent), place, span, missed, channels[0] if channels else "")


def wants_summary(text: str) -> bool:
    """Whether a text asks for a summary of anything."""
    return not _SUMMARIZE.isdisjoint(_words(text))


def find_time_span(text: str, now: datetime) -> TimeSpan:
    """The time span in a question."""
    return parse_time_span(_words(text), now)[0]


def _words(text: str) -> list[str]:
    """The lower-case words of a text; names of channels become "channel"."""
    bare = _CHANNEL_NAME.sub(" channel ", text.replace(";", ""))
    return [word.casefold().replace("’", "'") for word in _WORD.findall(bare)]


def _parse_kind(present: set[str], *, placed: bool) -> OverviewKind | None:
    if present & _OPEN and (present & _ASKED or present & _STILL) and not present & _POINTS_BACK - {"es", "das"}:
        return "questions"
    if present & _DECIDED:
        return None if present & _POINTS_BACK else "decisions"
    if present & _SUMMARIZE or (present & _HAPPENED and (placed or present in _NEWS)):
        return None if present & (_POINTS_BACK - {"es"}) else "summary"
    return None


def apply_overview_request(question: Question, request: OverviewRequest) -> Question:
    """The question with the requested overview and time span; filters that are already set stay."""
    within = replace(
        question.filters,
        since=question.filters.since or request.time_span.since,
        until=question.filters.until or request.time_span.until,
    )
    overview = replace(request.overview, recent=request.overview.recent and not within.is_active)
    return replace(question, overview=overview, filters=within)
