"""Remove the marks of turns that a server leaves in a reply, and what a model writes behind the end of its turn.

A chat template separates turns by tokens that a server removes unless it is set up for another model.
"""

from __future__ import annotations

import re

from engine.llm.formats.thinking import CodeTracker

_MAX_LOOK = 100  # characters before and behind a mark that are looked at
_MAX_STRIKE = 200  # characters behind `<s>` in which `</s>` may show that something is crossed out

_SPEAKER = r"(?:assistant|model|ai)"
_ROLE = r"(?:assistant|user|system|model|human|tool|ai)"


def _write_role_start(role: str) -> str:
    return rf"""(?:
        <\|(?:im_start|start|start_of_role|start_header_id|turn)\|?>{role}(?:<\|(?:end_of_role|end_header_id|message)\|>)?
        | <start_of_turn>{role} | \[\|{role}\|\] | <\|{role}\|> | <｜{role}｜> | ]~b]{role}
    )"""


# ChatML, Llama, Phi, GLM, Gemma, Mistral, DeepSeek, Cohere, MiniMax, EXAONE, Granite.
_TEXT_START = (
    r"<\|(?:begin_of_text|startoftext|chatbot_token|start_of_turn_token)\|> | <bos> | <s> | <｜begin▁of▁sentence｜>"
)
_START = re.compile(
    rf"(?:{_write_role_start(_SPEAKER)} | {_TEXT_START} | \[/inst\])",
    re.IGNORECASE | re.VERBOSE,
)
_TURN = re.compile(rf"{_write_role_start(_ROLE)} | \[/inst\]", re.IGNORECASE | re.VERBOSE)
_MARK = re.compile(
    rf"""(?:
    <\|(?:im_end|eot_id|eom_id|eot|eos|endoftext|end_of_text|end_of_turn|end_of_turn_token|endofturn|end|return|stop)\|>
    | <end_of_turn> | <turn\|> | </?eos> | <eot> | </s> | <｜end▁of▁sentence｜> | \[e~\[ | \[\|endofturn\|] | \[eos]
    | {_TURN.pattern} | {_TEXT_START}
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKS = re.compile(rf"(?:\s{{0,40}}{_MARK.pattern}){{0,8}}\s{{0,40}}", re.IGNORECASE | re.VERBOSE)
_FURTHER_TURN = re.compile(rf"{_TURN.pattern} | \[inst]", re.IGNORECASE | re.VERBOSE)
_LINE_END = re.compile(rf"[ \t]*(?:\Z|\n|{_MARK.pattern})", re.IGNORECASE | re.VERBOSE)
_BEFORE = re.compile(r"(?:\A|[\n.!?…。！？)\]】」*]\s*|[^\s`\"'“‘«(])\Z")  # no mark that a sentence speaks of
_SENTENCE_END = re.compile(r"(?:\A|[.!?…。！？)\]】」*_\"'”’»])\s*\Z|\S\Z")
# A mark is named behind a colon, as an item of a list, and in a line that is indented as code.
_NAMED = re.compile(r"(?:[:：]\s+|(?:\A|\n)[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|\n(?:[ ]{4}|\t)[ \t]*)\Z")
_OPEN = re.compile(  # what may become a mark
    r"(?:<(?:\|[a-z_]{3,18}\|?|start_of_turn)>[a-z]{0,9}(?:<[^<>\n]{0,20})?|<[^<>\n]{0,60}|\[[^\[\]\n]{0,24}|][^\[\]\n]{0,12})\Z",
    re.IGNORECASE,
)


class TurnFilter:
    """Passes a streamed reply without the marks at its start, up to the end of its turn.

    The start of another turn ends this one if the line ends behind it. Other marks do so only if nothing but marks
    follows, or another turn: one with prose below is text. In code, and once a mark was text, all marks are text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""  # the end of what was shown
        self._code = CodeTracker()
        self._has_begun = False
        self._has_ended = False
        self._names_marks = False  # a mark was text

    def feed(self, delta: str) -> str:
        """Add a piece of the reply; returns the text that can be shown now."""
        return self._read(delta, is_last=False)

    def finish(self) -> str:
        """The rest at the end of the reply."""
        return self._read("", is_last=True)

    def _read(self, delta: str, *, is_last: bool) -> str:
        self._held += "" if self._has_ended else delta
        if not self._has_begun and not self._begin(is_last=is_last):
            return ""
        shown, at = list[str](), 0
        for found in _MARK.finditer(self._held):
            shown.append(self._show(at, found.start()))
            at = found.start()
            behind = self._held[found.end() : found.end() + _MAX_LOOK]
            if self._names_marks or self._code.is_code:
                continue
            if not is_last and _is_open(behind):
                break
            self._names_marks = not self._ends_turn(found[0], behind)
            if not self._names_marks:
                self._has_ended, at = True, len(self._held)
                break
        else:
            opening = None if is_last else _OPEN.search(self._held, max(at, len(self._held) - _MAX_LOOK))
            end = opening.start() if opening else len(self._held)
            shown.append(self._show(at, end))
            at = end
        self._held = self._held[at:]
        return "".join(shown)

    def _begin(self, *, is_last: bool) -> bool:
        """Drop the marks at the start; false if more of them may come."""
        while found := _START.match(self._held.lstrip()):
            behind = self._held.lstrip()[found.end() :]
            rest = behind.lstrip()
            if not is_last and (not rest or _OPEN.fullmatch(rest) or (found[0] == "<s>" and _may_strike(behind))):
                return False  # a longer mark may come
            if _is_named(found[0], behind):
                break
            self._held = rest
        head = self._held.strip()
        if head and _MARKS.fullmatch(head):  # what follows decides
            self._has_begun = is_last
            return is_last
        self._names_marks = _MARK.match(head) is not None
        self._has_begun = is_last or (bool(head) and _OPEN.fullmatch(head) is None)
        return self._has_begun

    def _show(self, start: int, end: int) -> str:
        text = self._held[start:end]
        self._code.record(text)
        self._before = (self._before + text)[-_MAX_LOOK:]
        return text

    def _ends_turn(self, mark: str, behind: str) -> bool:
        if not _BEFORE.search(self._before) or _NAMED.search(self._before):
            return False
        if _TURN.fullmatch(mark):
            is_other = "system" not in mark.casefold()
            return is_other and bool(_LINE_END.match(behind) and _SENTENCE_END.search(self._before))
        marks, rest = _split_marks(behind)
        further = _FURTHER_TURN.search(marks) or _FURTHER_TURN.match(rest)
        return bool(not rest or further or _MARK.match(behind))


def _split_marks(behind: str) -> tuple[str, str]:
    """The marks and blanks with which a text begins, and the rest."""
    found = _MARKS.match(behind)
    end = found.end() if found else 0
    return behind[:end], behind[end:]


def _is_open(behind: str) -> bool:
    """Whether more text decides what a mark is: only blanks, marks or the start of one are behind it so far."""
    rest = _split_marks(behind)[1]
    return len(behind) < _MAX_LOOK and (not rest or _OPEN.fullmatch(rest) is not None)


def _is_named(mark: str, behind: str) -> bool:
    """Whether a mark at the start of a reply is text: a sentence goes on behind it, or it crosses something out."""
    if mark == "<s>" and "</s>" in behind[:_MAX_STRIKE]:
        return True
    rest = behind.lstrip(" \t")
    return rest != behind and bool(rest) and not rest.startswith("\n") and _MARK.match(rest) is None


def _may_strike(behind: str) -> bool:
    """Whether `</s>` may still come in the line behind `<s>`."""
    return len(behind) < _MAX_STRIKE and "\n" not in behind and "</s>" not in behind


def cut_turn(reply: str) -> str:
    """A whole reply without the marks of turns and what follows its turn."""
    turn = TurnFilter()
    return turn.feed(reply) + turn.finish()
