"""Recognize who does what: promises, tasks that are given to somebody, and lines that are labelled so. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from engine.llm.offline.points.decisions import is_in_minutes
from engine.llm.offline.words import UPPER
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Collection

    from engine.llm.offline.candidates import Candidate

MIN_TASK_WORDS = 3
_LABEL = compile_late(
    r"(?:\W{0,8}(?:action(?: item)?s?|todo|to[- ]do|task|ai|aufgabe|tarea|acción|tâche|à faire|tarefa|ação)|"
    r"\W{0,8}(?:宿題|担当|タスク))\s{0,3}[:：]",
    re.IGNORECASE,
)
_PROMISE = compile_late(
    r"(?:^|[.!;,] |\b(?:and|then|ok(?:ay)?|yes|sure|so) )(?:"
    r"(?:i.ll|i will|i am going to|i.m going to) (?!be\b|see\b|have\b|never\b|not\b|miss\b|say\b|think\b|ask\b|"
    r"let you)\w+|"
    r"(?:i can|let me) (?:take|do|handle|fix|write|send|prepare|order|call)\b|i (?:take care of|take over|"
    r"am on it)|i.m on it|"
    r"ich (?:kümmere mich|übernehme|mache das|erledige|schicke|sende|bestelle|rufe|prüfe|schreibe|werde (?!da\b|"
    r"nicht\b))|"
    r"je (?:m.en occupe|m.occupe|m.en charge|me charge|vais (?!bien\b)|prends en charge|commande|envoie|appelle|"
    r"prépare|vérifie)|"
    r"(?:yo )?(?:me encargo|me ocupo|lo hago yo|voy a (?!estar)|llamo a|envío|preparo|reviso)|"
    r"(?:eu )?(?:me encarrego|cuido d[eoa]|fico de|vou (?!estar|ver\b|perguntar)|envio|preparo|ligo para|"
    r"trato d[eoa]))",
    re.IGNORECASE,
)
_PROMISE_JA = compile_late(
    r"(?:私|僕|俺|こちら)(?:が|で|から)[^。]*(?:ます|やる|する)|(?:やって|して|送って|調べて)おきます|(?:担当|対応|手配|準備|作成|送付)します"
)
_WHO = rf"(?P<who>@?{UPPER}[\w’'-]+(?: {UPPER}[\w’'-]+)?)"
_GIVEN = compile_late(
    rf"(?:^|[.;:!] |[-•*] ){_WHO}(?:"
    r" (?:will|is going to|takes (?:care|over)|takes|handles|is on|is responsible for|does|wird|übernimmt|"
    r"kümmert sich|macht|"
    r"va |s.occupe|se charge|se encarga|vai |fica (?:de|com|responsável)|cuida)\b|"
    r"[,:] (?:please|can you|could you|you take|bitte|kannst du|por favor|puedes|peux-tu|pouvez-vous|"
    r"s.il te plaît|pode|podes)\b|"
    r" (?:to|→|->) (?:\w+ )|(?:さん)?(?:が|に)(?:担当|対応|お願い))"
)
_DUE = compile_late(
    rf"^\W*{_WHO} \w+(?:s|t|e|a|á)? .{{3,80}}\b(?:by|until|before|bis|vor|hasta|antes de|avant|d.ici|até|"
    rf"antes d[eao])\b"
)


def is_task(one: Candidate, people: Collection[str]) -> bool:
    """Whether it says that somebody will do something. `people`: first words of the names of those who are known."""
    text = one.text
    if one.is_question and not _GIVEN.search(text):
        return False
    if _LABEL.match(text):
        return True
    if one.speaker and (_PROMISE.search(text) or _PROMISE_JA.search(text)):
        return len(text.split()) >= MIN_TASK_WORDS or bool(_PROMISE_JA.search(text))
    given = _GIVEN.search(text) or _DUE.match(text)
    if given is None:
        return False
    name = given["who"].removeprefix("@").split()[0].casefold()
    return name in people or (is_in_minutes(one) and _DUE.match(text) is not None)


def find_owner(one: Candidate) -> str:
    """The name of who does a task, as it is written: who is named, or who promises it; empty if nobody is."""
    if one.speaker and (_PROMISE.search(one.text) or _PROMISE_JA.search(one.text)):
        return one.speaker
    given = _GIVEN.search(one.text) or _DUE.match(one.text)
    return given["who"].removeprefix("@") if given else ""


def list_people(candidates: Collection[Candidate]) -> frozenset[str]:
    """The first words of the names of those who speak, in lower case."""
    return frozenset(one.speaker.split()[0].removeprefix("@").casefold() for one in candidates if one.speaker.split())
