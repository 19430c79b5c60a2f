"""Remove the marks of turns that a server leaves in a reply, and what a model writes behind the end of its turn.

A chat template separates turns by tokens that a server removes unless it is set up for another model.
"""

from __future__ import annotations

import re

from engine.llm.formats.thinking import CodeTracker
from engine.text.patterns import compile_late

_MAX_LOOK = 100  # characters before and behind a mark that are looked at
_MAX_STRIKE = 200  # characters behind `<s>` in which `</s>` may show that something is crossed out

_SPEAKERS = ("assistant", "model")  # alone in the first line
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
_START = compile_late(
    rf"(?:{_write_role_start(_SPEAKER)} | {_TEXT_START} | \[/inst\] | (?-i:{'|'.join(_SPEAKERS)})[ \t]{{0,4}}\n)",
    re.IGNORECASE | re.VERBOSE,
)
_TURN = compile_late(rf"{_write_role_start(_ROLE)} | \[/inst\]", re.IGNORECASE | re.VERBOSE)
_MARK = compile_late(
    rf"""(?:
    <\|(?:im_end|eot_id|eom_id|eot|eos|endoftext|end_of_text|end_of_turn|end_of_turn_token|endofturn|end|return|stop)\|>
    | <end_of_turn> | <turn\|> | </?eos> | <eot> | </s> | <｜end▁of▁sentence｜> | \[e~\[ | \[\|endofturn\|] | \[eos]
    | {_TURN.pattern} | \[inst\] | {_TEXT_START}
    )""",
    re.IGNORECASE | re.VERBOSE,
)
_MARKS = compile_late(rf"(?:\s{{0,40}}{_MARK.pattern}){{0,8}}\s{{0,40}}", re.IGNORECASE | re.VERBOSE)
_FURTHER_TURN = compile_late(rf"{_TURN.pattern} | \[inst]", re.IGNORECASE | re.VERBOSE)
# With a colon they begin a turn in words.
_NAMES = (
    *(
        "user",
        "human",
        "assistant",
        "question",
        "q",
        "instruction",
        "input",
        "customer",
        "nutzer",
        "benutzer",
        "mensch",
    ),
    *("frage", "usuario", "pregunta", "utilisateur", "usuário", "pergunta", "ユーザー", "アシスタント", "質問"),
)
_BARE_NAMES = ("user", "human", "assistant", "model", "system")  # so do these alone in a line
_DECORATION = "#* \t"
_WORDED_TURN = compile_late(
    rf"[{_DECORATION}]{{0,8}}"
    rf"(?:(?:{'|'.join(_NAMES)})[ \t]{{0,4}}[:：]|(?:{'|'.join(_BARE_NAMES)})[ \t]{{0,4}}(?:\n|\Z))",
    re.IGNORECASE,
)
_LINE_END = compile_late(rf"[ \t]{{0,40}}(?:\Z|\n|{_MARK.pattern})", re.IGNORECASE | re.VERBOSE)
_BEFORE = compile_late(r"(?:\A|[\n.!?…。！？)\]】」*`\"'”’»]\s{0,99}|[^\s“‘«(])\Z")  # no mark that a sentence speaks of
_QUOTED = compile_late(r"[`\"'”’»]")  # behind a mark: one that is quoted
_SENTENCE_END = compile_late(r"(?:\A|[.!?…。！？)\]】」*_\"'”’»])\s*\Z|\S\Z")
_GLUED = compile_late(r"[.!?…。！？)\]】」]\Z")
_PARAGRAPH_END = compile_late(r"\n[ \t]{0,40}\n\s{0,40}\Z")
_CITED = compile_late(r"\[\d{1,3}\][.!?。]?\s*\Z")
# A mark is named behind a colon, as an item of a list, and in a line that is indented as code.
_NAMED = compile_late(r"(?:[:：]\s+|(?:\A|\n)[ \t]*(?:[-*+•]|\d{1,3}[.)])[ \t]+|\n(?:[ ]{4}|\t)[ \t]*)\Z")
# Behind a mark that a sentence speaks of.
_GOING_ON = compile_late(r"[ \t]{0,4}(?:[,;:/=)、，–—→]|は(?!い)|[がを]|和)|[ \t]{1,4}\(")
_CROSSED_OUT = compile_late(r"<s>(?:(?!</?s>)[^\n]){1,99}\Z", re.IGNORECASE)  # text behind `<s>` in a line
_OPEN = compile_late(  # what may become a mark
    r"(?:<(?:\|[a-z_]{3,18}\|?|start_of_turn)>[a-z]{0,9}(?:<[^<>\n]{0,20})?|<[^<>\n]{0,60}|\[[^\[\]\n]{0,24}|](?:~b][a-z]{0,9}|[^\[\]\n]{0,12}))\Z",
    re.IGNORECASE,
)


class TurnFilter:
    """Passes a streamed reply without the marks at its start, up to the end of its turn.

    The start of another turn ends this one if the line ends behind it or a sentence right before it. Other marks do so
    only if nothing but marks follows, or another turn: one with prose below is text. Once prose named a mark, only an
    end behind a citation or before another turn ends this one. In code, and once the start of a turn was text, all
    marks are text.
    """

    def __init__(self) -> None:
        self._held = ""
        self._before = ""  # the end of what was shown
        self._code = CodeTracker()
        self._has_begun = False
        self._has_ended = False
        self._names_marks = False  # prose named a mark
        self._shows_turns = False  # the start of a turn was text

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
            if self._shows_turns or self._code.is_code:
                continue
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
            behind = self._held.lstrip()[found.end() :]
            if not is_last and _may_be_longer(found[0], behind):
                return False
            if _is_named(found[0], behind):
                break
            self._held = behind.lstrip()
        head = self._held.lstrip()
        marks, rest = _split_marks(head)
        self._has_begun = is_last or bool(rest and not _OPEN.fullmatch(rest) and not _may_be_speaker(rest))
        if self._has_begun and marks and not rest:
            self._held = ""
        if marks and rest:
            self._names_marks = not _begins_strike(head)
            self._shows_turns = _TURN.match(head) is not None
        return self._has_begun

    def _show(self, start: int, end: int) -> str:
        text = self._held[start:end]
        self._code.record(text)
        self._before = (self._before + text)[-_MAX_LOOK:]
        return text

    def _ends_turn(self, mark: str, behind: str) -> bool:
        if mark.casefold() == "</s>" and _CROSSED_OUT.search(self._before):
            return False
        if not _BEFORE.search(self._before) or _NAMED.search(self._before) or self._is_quoted(behind):
            turn = _FURTHER_TURN.fullmatch(mark) or _FURTHER_TURN.match(behind)
            self._shows_turns = turn is not None and not _goes_on(behind)
            self._names_marks |= not _begins_strike(mark + behind)
            return False
        if _FURTHER_TURN.fullmatch(mark):
            ends = not self._names_marks and self._is_other_turn(mark, behind)
            self._shows_turns = not ends
            return ends
        marks, rest = _split_marks(behind)
        is_cut_off = rest.startswith("<|") and _OPEN.fullmatch(rest) is not None
        if not rest or is_cut_off or _MARK.match(behind):
            return _begins_turn(marks, rest) or not self._names_marks or _CITED.search(self._before) is not None
        return _begins_turn(marks, rest)

    def _is_quoted(self, behind: str) -> bool:
        return self._before[-1:] in {*"`\"'”’»"} and _QUOTED.match(behind) is not None

    def _is_other_turn(self, mark: str, behind: str) -> bool:
        """Whether the start of a turn is not one that a text shows."""
        if "system" in mark.casefold() or not _SENTENCE_END.search(self._before):
            return False
        if mark.casefold() == "[inst]":
            return not _goes_on(behind) and not _PARAGRAPH_END.search(self._before)
        is_glued = _GLUED.search(self._before) is not None and not _goes_on(behind)
        return is_glued or _LINE_END.match(behind) is not None


def _begins_turn(marks: str, rest: str) -> bool:
    return bool(_FURTHER_TURN.search(marks) or _FURTHER_TURN.match(rest) or _WORDED_TURN.match(rest))


def _split_marks(behind: str) -> tuple[str, str]:
    """The marks and blanks with which a text begins, and the rest."""
    found = _MARKS.match(behind)
    end = found.end() if found else 0
    return behind[:end], behind[end:]


def _is_open(behind: str) -> bool:
    """Whether more text decides what a mark is: blanks, marks or the start of a mark or of a turn are behind it."""
    rest = _split_marks(behind)[1].lstrip()
    name = rest.strip(_DECORATION).casefold()
    may_be_turn = any(known.startswith(name) for known in (*_NAMES, *_BARE_NAMES))
    may_be_turn |= name == "は"
    return len(behind) < _MAX_LOOK and (may_be_turn or _OPEN.fullmatch(rest) is not None)


def _may_be_speaker(text: str) -> bool:
    return any(name.startswith(text.rstrip(" \t")) for name in _SPEAKERS)


def _may_be_longer(mark: str, behind: str) -> bool:
    """Whether more text decides what a mark at the start of a reply is."""
    rest = behind.lstrip()
    if len(rest) < len("はい") or _OPEN.fullmatch(rest) or _may_be_speaker(rest):
        return True
    if mark.casefold() != "<s>" or rest != behind:
        return False
    line, end, after = _split_strike(behind)
    return _is_open(after) if end else len(line) < _MAX_STRIKE and line == behind


def _is_named(mark: str, behind: str) -> bool:
    """Whether a mark at the start of a reply is text: a sentence goes on behind it, or it crosses something out."""
    line, end, after = _split_strike(behind)
    if mark.casefold() == "<s>" and end and line.strip() == line != "" and "<s>" not in line.casefold():
        marks, rest = _split_marks(after)
        return bool(rest) and not _begins_turn(marks, rest)
    return _goes_on(behind)


def _goes_on(behind: str) -> bool:
    """Whether the sentence in which a mark stands goes on behind it."""
    rest = behind.lstrip(" \t")
    return _GOING_ON.match(behind) is not None or (rest != behind and rest[:1].islower())


def _begins_strike(text: str) -> bool:
    """Whether a text begins with `<s>` and something that is crossed out."""
    behind = text[len("<s>") :]
    return (
        text[: len("<s>")].casefold() == "<s>"
        and behind[:1].strip() not in {"", *",;:.!?/"}
        and not _MARK.match(behind)
    )


def _split_strike(behind: str) -> tuple[str, str, str]:
    """The line behind `<s>` up to `</s>`, that mark, and what is looked at behind it."""
    line = behind[:_MAX_STRIKE].partition("\n")[0]
    crossed, end, _ = line.partition("</s>")
    at = len(crossed) + len(end)
    return crossed, end, behind[at : at + _MAX_LOOK] if end else ""


def cut_turn(reply: str) -> str:
    """A whole reply without the marks of turns and what follows its turn."""
    turn = TurnFilter()
    return turn.feed(reply) + turn.finish()
