"""The SQL dialect: statements written for SQLite, with standard upserts, as PostgreSQL wants them.

| written                                | PostgreSQL                                     |
|----------------------------------------|------------------------------------------------|
| `?`, `?1`                              | `$1`                                           |
| `json_each(?) j`, a list of `lists`    | `unnest($1) AS j (value)`                      |
| `a CROSS JOIN b ON ...`, a fixed order | `a JOIN b ON ...`: its planner chooses         |
| `INDEXED BY name`, `+` for no index    | nothing                                        |
| `9e999`                                | `'infinity'::float8`                           |
| `MIN(a, b)`, `MAX(a, b)`               | `LEAST(a, b)`, `GREATEST(a, b)`                |
| `a IS NOT ?`                           | `a IS DISTINCT FROM $1`                        |
| `COLLATE BINARY`                       | `COLLATE "C"`, which all its text columns have |
| `group_concat`, `instr`                | `string_agg`, `strpos`                         |
| `json_group_object`                    | `json_object_agg`                              |

Shared statements use nothing else that SQLite alone understands. Text is scanned, not parsed; strings stay as they are.
"""

from __future__ import annotations

import re
from functools import lru_cache

_TOKEN = re.compile(r"'(?:[^']|'')*'|\"[^\"]*\"|\?\d*|\w+|\s+|.", re.DOTALL)
_AFTER_TABLE = {"WHERE", "CROSS", "JOIN", "ON", "USING", "ORDER", "GROUP", "LIMIT", "UNION", "LEFT", "AS", "AND", "OR"}
_ENDS_JOIN = _AFTER_TABLE - {"AS", "AND", "OR"}
_NAMES = {
    "GROUP_CONCAT": "string_agg",
    "INSTR": "strpos",
    "JSON_GROUP_OBJECT": "json_object_agg",
    "9E999": "'infinity'::float8",
}
_PHRASES = {"JSON_EACH", "CROSS", "INDEXED", "IS", "COLLATE"}
_BEFORE_OPERAND = {"WHERE", "AND", "OR", "NOT", "ON"}
_OF_TWO = {"MIN": "LEAST", "MAX": "GREATEST"}


@lru_cache(maxsize=2048)
def translate(sql: str) -> str:
    """A statement for PostgreSQL."""
    return _Translator(_TOKEN.findall(sql)).run()


class _Translator:
    """Goes through the parts of one statement once."""

    def __init__(self, parts: list[str]) -> None:
        self._parts = parts
        self._place = 0
        self._last_parameter = 0

    def run(self) -> str:
        made = list[str]()
        while self._place < len(self._parts):
            part = self._parts[self._place]
            made.append(self._translate(part, part.upper()))
            self._place += 1
        return "".join(made)

    def _translate(self, part: str, word: str) -> str:
        """The translation of the part at the present place; `word`: in capitals. Moves on over what belongs to it."""
        if part.startswith("?"):
            return self._parameter(part)
        if part == "+" and self._is_sign():
            return ""
        if word in _OF_TWO and self._count_arguments() > 1:
            return _OF_TWO[word]
        if word in _PHRASES:
            made = self._translate_phrase(word)
            return part if made is None else made
        return _NAMES.get(word, part)

    def _translate_phrase(self, word: str) -> str | None:
        """The translation of a construct that begins with this word; None if it is another one."""
        match word, [each.upper() for each in self._next_words(2)]:
            case "JSON_EACH", _:
                return self._list()
            case "CROSS", _ if self._has_condition():
                return self._skip("JOIN", "JOIN")
            case "INDEXED", ["BY", name]:
                return self._skip(name, "")
            case "IS", ["NOT", "?"]:
                return self._skip("NOT", "IS DISTINCT FROM")
            case "COLLATE", ["BINARY", *_]:
                return self._skip("BINARY", 'COLLATE "C"')
        return None

    def _is_sign(self) -> bool:
        """Whether a plus sign stands before an operand instead of between two."""
        before = next((part for part in reversed(self._parts[: self._place]) if not part.isspace()), "(")
        return before == "(" or before.upper() in _BEFORE_OPERAND

    def _parameter(self, part: str) -> str:
        """A numbered placeholder; one without a number follows the highest so far, as in SQLite."""
        number = int(part[1:] or self._last_parameter + 1)
        self._last_parameter = max(self._last_parameter, number)
        return f"${number}"

    def _list(self) -> str:
        """A list as a table; without an alias it gets one."""
        while not self._parts[self._place].startswith("?"):
            self._place += 1
        parameter = self._parameter(self._parts[self._place])
        self._place += 1  # the closing parenthesis
        alias = "listed"
        following = self._next_words(1)
        if following and following[0].isidentifier() and following[0].upper() not in _AFTER_TABLE:
            alias = following[0]
            self._skip(alias, "")
        return f"unnest({parameter}) AS {alias} (value)"

    def _skip(self, word: str, made: str) -> str:
        """Move to the next part that is this word."""
        while self._parts[self._place].upper() != word.upper():
            self._place += 1
        return made

    def _next_words(self, count: int) -> list[str]:
        """The next parts that are not blank; placeholders without their numbers."""
        following = (each for each in self._parts[self._place + 1 : self._place + 3 * count] if not each.isspace())
        return ["?" if each.startswith("?") else each for each in following][:count]

    def _has_condition(self) -> bool:
        """Whether the joined table has an ON of its own."""
        depth = 0
        for part in self._parts[self._place + 3 :]:  # after CROSS, blank, JOIN
            depth += (part == "(") - (part == ")")
            if depth < 0 or (depth == 0 and part.upper() in _ENDS_JOIN):
                return part.upper() in {"ON", "USING"}
        return False

    def _count_arguments(self) -> int:
        """The number of arguments of a function call; 0 if it is none."""
        depth = count = 0
        for part in self._parts[self._place + 1 :]:
            depth += (part == "(") - (part == ")")
            if depth == 0:
                return count
            count += (depth == 1) and part in "(,"
        return count
