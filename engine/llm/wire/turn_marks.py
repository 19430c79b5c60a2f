"""Remove the marks of turns that a server leaves in a reply, and what a model writes behind the end of its turn.

A chat template separates turns by tokens that a server removes unless it is set up for another model.
"""

from __future__ import annotations

import re

from engine.llm.formats.thinking import CodeTracker

MAX_GAP = 40  # blanks behind a mark that are waited for

_ROLE = r"(?:assistant|user|system|model|human|tool|ai)"
# ChatML, Llama, Phi, GLM, Gemma, Mistral, DeepSeek, Cohere, MiniMax, EXAONE, Granite.
_START = re.compile(
    rf"""(?:
        <\|(?:im_start|start|start_of_role|start_header_id|turn)\|?>{_ROLE}(?:<\|(?:end_of_role|end_header_id|message)\|>)?
        | <start_of_turn>{_ROLE} | \[\|{_ROLE}\|\] | <\|{_ROLE}\|> | <｜{_ROLE}｜> | ]~b]{_ROLE}
        | <\|(?:begin_of_text|startoftext|chatbot_token|start_of_turn_token)\|> | <bos> | <s> | \[/inst\]
        | <｜begin▁of▁sentence｜>
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_END = re.compile(
    rf"""
    <\|(?:im_end|eot_id|eom_id|eot|eos|endoftext|end_of_text|end_of_turn|end_of_turn_token|endofturn|end|return|stop)\|>
    | <end_of_turn> | <turn\|> | </?eos> | <eot> | </s> | <｜end▁of▁sentence｜> | \[e~\[ | \[\|endofturn\|] | \[eos]
    | {_START.pattern}
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BEHIND = re.compile(rf"[ \t]*(?:\Z|\n|{_END.pattern})", re.IGNORECASE | re.VERBOSE)
_BEFORE = re.compile(r"(?:\A|[\n.!?:…。！？)\]】」*]\s*|[^\s`\"'“‘«(])\Z")  # no mark that a sentence speaks of
_OPEN = re.compile(  # what may become a mark
    r"(?:<(?:\|[a-z_]{3,18}\|?|start_of_turn)>[a-z]{0,9}(?:<[^<>\n]{0,20})?|<[^<>\n]{0,60}|\[[^\[\]\n]{0,24}|][^\[\]\n]{0,12})\Z",
    re.IGNORECASE,
)
_MAX_LOOK = 100  # characters before and behind a mark that are looked at


class TurnFilter:
    """Passes a streamed reply without the marks at its start, up to the end of its turn.

    A mark ends the turn if the line or the reply ends behind it, outside of code: "`</s>` closes it" is text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""  # the end of what was shown
        self._code = CodeTracker()
        self._has_begun = False
        self._has_ended = False

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
        for found in _END.finditer(self._held):
            shown.append(self._show(at, found.start()))
            at = found.start()
            behind = self._held[found.end() : found.end() + _MAX_LOOK]
            if not is_last and _is_open(behind):
                break
            if self._ends_turn(found[0], behind):
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
            rest = self._held.lstrip()[found.end() :].lstrip()
            if not is_last and (not rest or _OPEN.fullmatch(rest)):
                return False  # a longer mark may come
            self._held = rest
        head = self._held.strip()
        self._has_begun = is_last or (bool(head) and _OPEN.fullmatch(head) is None)
        return self._has_begun

    def _show(self, start: int, end: int) -> str:
        text = self._held[start:end]
        self._code.record(text)
        self._before = (self._before + text)[-_MAX_LOOK:]
        return text

    def _ends_turn(self, mark: str, behind: str) -> bool:
        if mark == "</s>" and "<s>" in self._before:  # crossed out
            return False
        return bool(_BEHIND.match(behind) and _BEFORE.search(self._before)) and not self._code.is_code


def _is_open(behind: str) -> bool:
    """Whether more text decides what a mark is: only blanks or the start of a mark are behind it so far."""
    rest = behind.lstrip(" \t")
    return (not rest and len(behind) < MAX_GAP) or _OPEN.fullmatch(rest) is not None


def cut_turn(reply: str) -> str:
    """A whole reply without the marks of turns and what follows its turn."""
    turn = TurnFilter()
    return turn.feed(reply) + turn.finish()
