"""Unwrap a text that a model wrote as JSON, `{"thinking": "…", "answer": "Nine [1]."}`, also in a code fence.

Thoughts in such a reply are not shown, whatever else it holds. Other objects are what somebody asked for.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from engine.llm.formats.broken_json import read_first_value

MAX_JSON_CHARACTERS = 40_000  # a longer one is shown as it is
MAX_HEAD_CHARACTERS = 80
MAX_BARE = 40  # characters of a value that is no prose: `{"reasoning": "high"}` is a setting
MAX_DEPTH = 4

# Names of fields, without case, blanks, underscores and hyphens.
_ANSWER_NAMES = """
answer finalanswer response finalresponse reply finalreply antwort endantwort respuesta respuestafinal réponse reponse
réponsefinale resposta respostafinal 回答 最終回答 答え
"""
# They hold an answer beside thoughts, or if it cites.
_TEXT_NAMES = (
    "text content message output result final summary description texto texte nachricht "
    "zusammenfassung beschreibung resumen descripción résumé resumo descrição 本文 要約"
)
_THOUGHT_NAMES = """
thinking thought thoughts think thoughtprocess thinkingprocess reasoning reasoningcontent reasoningsteps chainofthought
cot scratchpad reflection monologue innermonologue internalmonologue gedanken gedankengang überlegung überlegungen
denkprozess razonamiento pensamiento pensamientos raisonnement réflexion pensées raciocínio pensamento pensamentos
思考 思考過程 推論
"""
# They may be all that is asked for, but not beside an answer.
_ASIDE_NAMES = """
reason explanation rationale justification analysis plan steps stepbystep observation begründung erklärung analyse
análisis explicación explication explicação análise 理由 分析 説明
"""
_SOURCE_NAMES = """
sources source citations citation references sourceids sourcesused usedsources quellen fuentes fontes 出典
"""
_REST_NAMES = """
question query confidence confidencescore language lang found answerable hasanswer isanswerable entity entityname role
type status followup followups followupquestions
"""
_ANSWERS, _TEXTS, _THOUGHTS, _ASIDES, _SOURCES, _REST = (
    frozenset(names.split())
    for names in (_ANSWER_NAMES, _TEXT_NAMES, _THOUGHT_NAMES, _ASIDE_NAMES, _SOURCE_NAMES, _REST_NAMES)
)
_KNOWN = _ANSWERS | _TEXTS | _THOUGHTS | _ASIDES | _SOURCES | _REST
_JOINTS = re.compile(r"[\s_-]+")
_KEY = r"[\"'“]?(?P<key>[^\"'“”:{}\[\],\n]{1,24})[\"'”]?"
_START = r"\s{0,8}(?:(?:`{3}|json)(?:json)?\s{0,8})?(?:\[\s{0,8})?"
_HEAD = re.compile(rf"{_START}(?P<object>\{{)\s{{0,8}}{_KEY}\s{{0,8}}:", re.IGNORECASE)
_PARTIAL_HEAD = re.compile(
    r"\s{0,8}(?:`{0,3}|(?:```)?[json]{0,4}\s{0,8})(?:\[\s{0,8})?(?:\{\s{0,8}(?:[\"'“]?[^\"'“”:{}\[\],\n]{0,24}[\"'”]?\s{0,8})?)?",
    re.IGNORECASE,
)
_FENCE = re.compile(r"\s{0,8}(?:```)?(?:json)?\s{0,8}", re.IGNORECASE)
_FENCE_END = re.compile(r"\s{0,8}(?:```|~~~)[ \t]{0,8}(?=\n|\Z)")
_CITES = re.compile(r"[\[【［(（]\s?\D{0,16}\d{1,3}\s?[\]】］)）]")
_NUMBER = re.compile(r"\D{0,24}(\d{1,3})\D{0,4}")
_CURLY = str.maketrans("“”", '""')


class JsonAnswerUnwrapper:
    """Passes a streamed answer; one that begins as such an object is held back to its end."""

    def __init__(self) -> None:
        self._held = ""
        self._is_text = False
        self._is_object = False

    def feed(self, delta: str) -> str:
        """Add a piece of the answer; returns the text that can be shown now."""
        if self._is_text:
            return delta
        self._held += delta
        self._is_object = self._is_object or _begins_object(self._held[:MAX_HEAD_CHARACTERS])
        waits = self._is_object or (
            len(self._held) < MAX_HEAD_CHARACTERS and _PARTIAL_HEAD.fullmatch(self._held) is not None
        )
        if waits and len(self._held) <= MAX_JSON_CHARACTERS:
            return ""
        self._is_text = True
        held, self._held = self._held, ""
        return held

    def close(self) -> str:
        """End the answer; returns the remaining text."""
        held, self._held = self._held, ""
        return _unwrap(held, 0) if self._is_object else held


def _begins_object(text: str) -> bool:
    found = _HEAD.match(text)
    return found is not None and _normalize(found["key"]) in _KNOWN


def _normalize(key: object) -> str:
    return _JOINTS.sub("", str(key)).casefold()


class _JsonText(NamedTuple):
    """What an object says: its answer, and the characters of its thoughts."""

    answer: str = ""
    thoughts: int = 0


def unwrap_text(text: str) -> str:
    """A reply that was to be a text, without an object around it."""
    return _unwrap(text, 1) if _begins_object(text[:MAX_HEAD_CHARACTERS]) else text


def _unwrap(text: str, depth: int) -> str:
    """The answer of the objects with which a reply begins, and what follows them; the reply if they are others."""
    start = _FENCE.match(text)
    at, before = (start.end() if start else 0), 0
    said = list[_JsonText]()
    while at < len(text) and text[at] in "{[":
        rest = text[at:].translate(_CURLY) if "“" in text[at : at + 4] else text[at:]
        value, length = read_first_value(rest)
        found = _read_value(value, depth)
        if found is None:
            break
        said.append(found)
        before = at + length
        at = len(text) - len(text[before:].lstrip())
    return _join(text, text[before:], said) if said else text


def _join(reply: str, rest: str, said: list[_JsonText]) -> str:
    """The answers and what follows them; the reply if it goes on in the line of an object, and thus speaks of it."""
    fence = _FENCE_END.match(rest)
    rest = rest[fence.end() :] if fence else rest
    if rest.strip() and not rest.lstrip(" \t").startswith("\n"):
        return reply
    parts = [*(part.answer for part in said), rest.strip()]
    thoughts = sum(part.thoughts for part in said)
    is_read = any(part.answer for part in said) or thoughts > (0 if rest.strip() else MAX_BARE)
    return "\n\n".join(filter(None, parts)) if is_read else reply


def _read_value(value: object, depth: int) -> _JsonText | None:
    """What a value says; None if it is no reply."""
    match value:
        case dict() if depth < MAX_DEPTH:
            return _read_object({_normalize(key): item for key, item in value.items()}, depth)
        case list() if value:
            said = [_read_value(item, depth) if isinstance(item, dict) else None for item in value]
            parts = [part for part in said if part]
            answer = "\n\n".join(part.answer for part in parts if part.answer)
            return _JsonText(answer, sum(part.thoughts for part in parts)) if len(parts) == len(said) else None
        case _:
            return None


def _read_object(fields: dict[str, object], depth: int) -> _JsonText | None:
    """What an object says; one with other fields is a reply only if it has thoughts and an answer."""
    thoughts = [value for key, value in fields.items() if key in _THOUGHTS]
    answers = _list_texts(fields, _ANSWERS, depth)
    if not fields.keys() <= _KNOWN and not (thoughts and answers):
        return None
    is_reply = bool(thoughts or depth or fields.keys() & _ASIDES) or _is_message(fields)
    answers = answers or [text for text in _list_texts(fields, _TEXTS, depth) if is_reply or _CITES.search(text)]
    length = sum(len(str(value)) for value in thoughts)
    if len(answers) == 1:
        return _JsonText(_cite(answers[0], fields), length)
    return _JsonText("", length) if thoughts and not fields.keys() & (_ANSWERS | _TEXTS) else None


def _is_message(fields: dict[str, object]) -> bool:
    return fields.get("role") == "assistant" or fields.get("type") in {"text", "output_text"}


def _list_texts(fields: dict[str, object], names: frozenset[str], depth: int) -> list[str]:
    found = (_read_text(value, depth) for key, value in fields.items() if key in names)
    return [text for text in found if text]


def _read_text(value: object, depth: int) -> str:
    """The text of a value: itself, its lines, or that of an object within."""
    match value:
        case str():
            return value.strip()
        case list() if value and all(isinstance(item, str) for item in value):
            return "\n".join(map(str, value)).strip()
        case dict() | list():
            found = _read_value(value, depth + 1)
            return found.answer if found else ""
        case _:
            return ""


def _cite(answer: str, fields: dict[str, object]) -> str:
    """An answer that cites nothing, with the numbers in the list of its sources."""
    if _CITES.search(answer):
        return answer
    numbers = (number for key, value in fields.items() if key in _SOURCES for number in _list_numbers(value))
    return " ".join(filter(None, (answer, "".join(f"[{number}]" for number in numbers))))


def _list_numbers(value: object) -> list[str]:
    """The numbers of sources that a value names; none of longer texts."""
    items = value if isinstance(value, list) else [value]
    named = [next(iter(item.values()), "") if isinstance(item, dict) else item for item in items]
    return [found[1] for item in named if (found := _NUMBER.fullmatch(str(item)))]
