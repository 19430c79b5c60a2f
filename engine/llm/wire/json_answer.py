"""Unwrap a text that a model wrote as JSON, `{"thinking": "…", "answer": "Nine [1]."}`, also in a code fence.

Thoughts in such a reply are not shown, whatever else it holds. An answer that cites is a reply, whatever else stands
beside it; what cites there, too, follows it. Other objects are what somebody asked for.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from engine.llm.formats.broken_json import read_first_value
from engine.text.patterns import compile_late

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

MAX_JSON_CHARACTERS = 40_000  # a longer one is shown as it is
MAX_HEAD_CHARACTERS = 80
MAX_BARE = 40  # characters of a value that is no prose: `{"reasoning": "high"}` is a setting
MAX_WORD = 16  # the same, of one before a text
MAX_DEPTH = 4

# Names of fields, without case, blanks, underscores and hyphens.
_ANSWER_NAMES = """
answer finalanswer response finalresponse reply finalreply antwort endantwort respuesta respuestafinal réponse reponse
réponsefinale resposta respostafinal 回答 最終回答 答え
"""
# They hold an answer beside thoughts, or if it cites.
_TEXT_NAMES = "text content message output result final texto texte nachricht 本文"
# They hold what a summary is asked for; in an answer only beside thoughts.
_SUMMARY_NAMES = """
summary description zusammenfassung beschreibung resumen descripción résumé resumo descrição 要約
"""
_THOUGHT_NAMES = """
thinking thought thoughts think thoughtprocess thinkingprocess reasoning reasoningcontent reasoningsteps chainofthought
cot scratchpad reflection monologue innermonologue internalmonologue gedanken gedankengang überlegung überlegungen
denkprozess razonamiento pensamiento pensamientos raisonnement réflexion pensées raciocínio pensamento pensamentos
思考 思考過程 推論
"""
# They may be all that is asked for, but not beside an answer.
_ASIDE_NAMES = "rationale justification analysis observation analyse análisis análise 分析"
_SOURCE_NAMES = """
source citation reference sourceid sourcenumber quelle fuente fonte
sources citations references sourceids sourcenumbers sourcesused usedsources quellen fuentes fontes 出典
"""
_ONE_SOURCE_NAMES = _SOURCE_NAMES.splitlines()[1]  # here a number is no count
_RATING_NAMES = """
confidence confidencescore found answerable hasanswer isanswerable followup followups followupquestions
language lang sprache idioma langue 言語
"""
_EXPLANATION_NAMES = "explanation erklärung begründung explicación explication explicação 説明"
_QUESTION_NAMES = "question query frage pregunta pergunta 質問"
# Beside thoughts they are no data that was asked for.
_DETAIL_NAMES = f"{_QUESTION_NAMES} entity entityname role type status note notes action {_EXPLANATION_NAMES}"
_ANSWERS, _TEXTS, _SUMMARIES, _THOUGHTS, _ASIDES, _SOURCES, _ONE_SOURCE, _RATINGS, _EXPLANATIONS, _DETAILS = (
    frozenset(names.split())
    for names in (
        *(_ANSWER_NAMES, _TEXT_NAMES, _SUMMARY_NAMES, _THOUGHT_NAMES),
        *(_ASIDE_NAMES, _SOURCE_NAMES, _ONE_SOURCE_NAMES, _RATING_NAMES, _EXPLANATION_NAMES, _DETAIL_NAMES),
    )
)
_KNOWN = _ANSWERS | _TEXTS | _SUMMARIES | _THOUGHTS | _ASIDES | _SOURCES | _RATINGS | _DETAILS
_UNSAID = _KNOWN - _TEXTS - _SUMMARIES - _EXPLANATIONS  # beside an answer
_DIGITS = compile_late(r"\d+")
_JOINTS = compile_late(r"[\s_-]+")
_KEY = r"[\"'“]?(?P<key>[^\"'“”:{}\[\],\n]{1,24})[\"'”]?"
_START = r"\s{0,8}(?:(?:`{3}|json)(?:json)?\s{0,8})?(?:\[\s{0,8})?"
_HEAD = compile_late(rf"{_START}(?P<object>\{{)\s{{0,8}}{_KEY}\s{{0,8}}:", re.IGNORECASE)
_PARTIAL_HEAD = compile_late(
    r"\s{0,8}(?:`{0,3}|(?:```)?[json]{0,4}\s{0,8})(?:\[\s{0,8})?(?:\{\s{0,8}(?:[\"'“]?[^\"'“”:{}\[\],\n]{0,24}[\"'”]?\s{0,8})?)?",
    re.IGNORECASE,
)
_FENCE = compile_late(r"\s{0,8}(?:```)?(?:json)?\s{0,8}", re.IGNORECASE)
_FENCE_END = compile_late(r"\s{0,8}(?:```|~~~)[ \t]{0,8}(?=\n|\Z)")
_KINDS = (
    r"sources?|quellen?|fuentes?|fontes?|citations?|ref(?:erence)?|doc(?:ument)?|id|s|出典"
    r"|messages?|nachricht|mensaje|mensagem|メッセージ|passage|excerpt|chunk|snippet"
)
_LABEL = rf"(?:(?:{_KINDS})[ :#]{{0,2}}|#)?"
_CITES = compile_late(rf"[\[【［]\s?\D{{0,16}}\d{{1,3}}\s?[\]】］]|[(（]\s?{_LABEL}\d{{1,3}}\s?[)）]", re.IGNORECASE)
_LISTED = rf"[\[【(]?{_LABEL}(?<!\d)\d{{1,3}}[\]】)]?"
_BETWEEN = r"(?:[ ,;&]{0,3}|[ ,]{1,2}(?:and|und|y|et|e)[ ]|と)"
_NUMBERS = compile_late(rf"\s{{0,4}}{_LISTED}(?:{_BETWEEN}{_LISTED}){{0,20}}\s{{0,4}}", re.IGNORECASE)
# A number before or behind a title.
_BRACKETED = compile_late(rf"[\[【]{_LABEL}(\d{{1,3}})[\]】]", re.IGNORECASE)
_TITLED = compile_late(rf"\s{{0,4}}(?:{_KINDS})[ #]{{0,2}}(\d{{1,3}})[ ]?[:–—-][ ]", re.IGNORECASE)
_NUMBER_KEYS = frozenset(("id", "number", "source", "sourceid", "sourcenumber", "index", "sourceindex", "citation"))
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
    is_thought_out: bool = False  # its thoughts are sentences
    is_reply: bool = False  # it cites, and nothing stands beside it that a reply lacks
    is_message: bool = False  # a part of a message, as a provider sends it


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
    """The answers and what follows them; the reply if what follows speaks of the objects."""
    fence = _FENCE_END.match(rest)
    rest = rest[fence.end() :] if fence else rest
    if rest.strip() and not rest.lstrip(" \t").startswith("\n"):
        return reply
    answer, thoughts = _join_answers(said), sum(part.thoughts for part in said)
    if rest.strip():
        is_reply = any(part.is_reply for part in said) and rest.lstrip(" \t").startswith("\n\n")
        is_read = thoughts > MAX_WORD and bool(answer or any(part.is_thought_out for part in said))
        is_read |= fence is None and (is_reply or thoughts > MAX_WORD)
    else:
        is_read = bool(answer) or thoughts > MAX_BARE
    return "\n\n".join(filter(None, (answer, rest.strip()))) if is_read and answer is not None else reply


def _join_answers(parts: list[_JsonText]) -> str | None:
    """The answers of objects; None if these are several rows of data."""
    answers = [part.answer for part in parts if part.answer]
    is_reply = len(answers) < 2 or any(part.thoughts or part.is_message for part in parts)
    return "\n\n".join(answers) if is_reply else None


def _read_value(value: object, depth: int) -> _JsonText | None:
    """What a value says; None if it is no reply."""
    match value:
        case dict() if depth < MAX_DEPTH:
            fields: dict[str, object] = {_normalize(key): item for key, item in value.items()}
            if _normalize(fields.get("action")) in _ANSWERS and "actioninput" in fields:  # the last step of an agent
                fields = {**fields, "answer": fields["actioninput"]}
                fields = {key: item for key, item in fields.items() if key not in {"action", "actioninput"}}
            return _read_object(fields, depth)
        case list() if value:
            said = [_read_value(item, depth) if isinstance(item, dict) else None for item in value]
            parts = [part for part in said if part]
            answer = _join_answers(parts)
            if answer is None or len(parts) < len(said):
                return None
            return _JsonText(answer, sum(part.thoughts for part in parts), any(part.is_message for part in parts))
        case _:
            return None


def _read_object(fields: dict[str, object], depth: int) -> _JsonText | None:
    """What an object says; one that is data is a reply only if it has real thoughts and an answer."""
    thoughts = sum(_measure_thought(value) for key, value in fields.items() if key in _THOUGHTS)
    is_thought_out = any(_is_sentence(str(fields[key])) for key in fields.keys() & _THOUGHTS)
    answers, is_message = _list_texts(fields, _ANSWERS, depth), _is_message(fields)
    if cited := _find_cited(answers or (_list_texts(fields, _TEXTS, depth) if depth else []), fields, depth):
        is_reply = not _is_data(fields, has_reply=True)
        return _JsonText(cited, thoughts, is_thought_out, is_reply, is_message)
    has_reply = bool(thoughts or is_message or (depth and fields.keys() & _SUMMARIES))
    if _is_data(fields, has_reply=has_reply) and not (thoughts > MAX_BARE and answers):
        return None
    if not answers and (thoughts or depth or is_message):
        answers = _list_texts(fields, _TEXTS | _SUMMARIES, depth)
    elif not answers and not fields.keys() & _SUMMARIES:
        texts = _list_texts(fields, _TEXTS, depth)
        answers = [text for text in texts if fields.keys() & _ASIDES or _CITES.search(text)]
    if len(answers) == 1:
        return _JsonText(_cite(answers[0], fields), thoughts, is_thought_out, is_message=is_message)
    is_data = bool(fields.keys() & (_ANSWERS | _TEXTS | _SUMMARIES))
    return _JsonText("", thoughts, is_thought_out) if thoughts and not is_data else None


def _find_cited(answers: list[str], fields: dict[str, object], depth: int) -> str:
    """The only answer if it cites, or what stands beside it does, with all that cites; empty for data."""
    if len(answers) != 1:
        return ""
    cited = _cite(answers[0], fields)
    beside = [text for text in _list_texts(fields, fields.keys() - _UNSAID, depth) if _CITES.search(text)]
    others = [text for text in beside if text != answers[0]]
    if _CITES.search(cited) or (len(others) == 1 and fields.keys() <= _KNOWN):
        return "\n\n".join((cited, *others))
    return ""


def _measure_thought(value: object) -> int:
    """The characters of thoughts; none of settings such as `{"type": "enabled"}`."""
    if isinstance(value, dict):
        return sum(_measure_thought(item) for item in value.values() if len(str(item).split()) > 1)
    return len(str(value)) if isinstance(value, str | list) else 0


def _is_sentence(text: str) -> bool:
    return len(text.split()) > 1 and text.rstrip(" \n\"'”’)]}").endswith((*".!?…。！？",))


def _is_data(fields: dict[str, object], *, has_reply: bool) -> bool:
    """Whether an object has fields that a reply lacks: others, settings, and details or numbers without thoughts."""
    details = [fields[key] for key in fields.keys() & _DETAILS]
    return (
        not fields.keys() <= _KNOWN
        or any(
            isinstance(value, dict) and not _measure_thought(value) for key, value in fields.items() if key in _THOUGHTS
        )
        or any(isinstance(value, int | float) for value in details)
        or (bool(details) and not has_reply)
    )


def _is_message(fields: dict[str, object]) -> bool:
    return fields.get("role") == "assistant" or fields.get("type") in {"text", "output_text"}


def _list_texts(fields: dict[str, object], names: AbstractSet[str], depth: int) -> list[str]:
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
    numbers = (number for key in fields if key in _SOURCES for number in _list_numbers(key, fields[key]))
    return " ".join(filter(None, (answer, "".join(f"[{number}]" for number in numbers))))


def _list_numbers(key: str, value: object) -> list[str]:
    """The numbers in a list of sources; none of titles, pages and days, nor of a count."""
    match value:
        case list():
            items = value
        case dict() if value and all(str(number).isdigit() for number in value):
            items = list(value)
        case str() | dict():
            items = [value]
        case int() if key in _ONE_SOURCE:
            items = [value]
        case _:
            items = []
    return [number for item in items for number in _read_numbers(item)]


def _read_numbers(item: object) -> list[str]:
    """The numbers of sources that an item of a list consists of or begins with; of an object, that of its field."""
    if isinstance(item, dict):
        named = {tuple(_read_numbers(value)) for key, value in item.items() if _normalize(key) in _NUMBER_KEYS}
        named.discard(())
        return list(named.pop()) if len(named) == 1 else []
    text = str(item)
    if _NUMBERS.fullmatch(text):
        return _DIGITS.findall(text)
    titled = _TITLED.match(text)
    return [titled[1]] if titled else _BRACKETED.findall(text)
