"""Unwrap an answer that a model wrote as JSON, `{"answer": "Nine [1].", "sources": [1]}`, also in a code fence."""

from __future__ import annotations

import json
import re

MAX_JSON_CHARACTERS = 40_000  # a longer one is shown as it is

_ANSWER_KEYS = ("answer", "response", "reply", "final_answer", "antwort", "respuesta", "réponse", "resposta", "回答")
_OTHER_KEYS = ("sources", "citations", "references", "source_ids", "confidence", "reasoning", "thoughts", "thinking")
_HEAD = re.compile(
    rf'\s{{0,8}}(?:```(?:json)?\s{{0,8}})?\{{\s{{0,8}}"(?:{"|".join((*_ANSWER_KEYS, *_OTHER_KEYS))})"\s{{0,8}}:',
    re.IGNORECASE,
)
_PARTIAL_HEAD = re.compile(
    r'\s{0,8}(?:`{0,3}|```[json]{0,4}\s{0,8})(?:\{\s{0,8}(?:"[^"\n]{0,16}(?:"\s{0,8})?)?)?', re.IGNORECASE
)
_FENCE = re.compile(r"```(?:json)?", re.IGNORECASE)
MAX_HEAD_CHARACTERS = 80


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
        self._is_object = self._is_object or _HEAD.match(self._held[:MAX_HEAD_CHARACTERS]) is not None
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
        return _read_answer(held) or held if self._is_object else held


def _read_answer(text: str) -> str:
    """The answer in an object that holds nothing else but its sources and thoughts; empty if it is another one."""
    try:
        value = json.loads(_FENCE.sub("", text.strip(), count=1).strip().removesuffix("```"))
    except (ValueError, RecursionError):
        return ""
    if not isinstance(value, dict):
        return ""
    keys = {str(key).casefold(): key for key in value}
    answers = [value[keys[name]] for name in _ANSWER_KEYS if name in keys]
    if len(answers) != 1 or not isinstance(answers[0], str) or not keys.keys() <= {*_ANSWER_KEYS, *_OTHER_KEYS}:
        return ""
    return answers[0]
