"""The conversation of `init`: how answers are read, what was given, what was answered, and what is still missing."""

from __future__ import annotations

import getpass
import sys
from dataclasses import dataclass, field
from textwrap import wrap
from typing import TYPE_CHECKING, Protocol

from bot.errors import BadSetting
from bot.setup.draft import SetupDraft
from bot.setup.env_file import name_variable
from bot.setup.pasted import clean_paste, find_mistake, mask
from bot.setup.platforms import find_other

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from rich.console import Console

    from bot.plugins import Credential, PlatformSetup

    FindProblem = Callable[[str], str]  # what is wrong with a value, in a sentence; empty if nothing is


MAX_TRIES = 20  # of one question, before a program that answers it is stopped


@dataclass(frozen=True, slots=True)
class Given:
    """What the command line says. `values` by setting; `connect`: platforms by name; `variants` of their apps."""

    values: Mapping[str, str] = field(default_factory=dict)
    connect: Sequence[str] = ()
    variants: Mapping[str, str] = field(default_factory=dict)
    is_local: bool = False
    checks: bool = True
    yes: bool = False


@dataclass(slots=True, kw_only=True)
class Conversation(SetupDraft):
    """Asks what is not given."""

    given: Given
    reader: AnswerReader
    out: Console
    missing: list[str] = field(default_factory=list)
    mistakes: list[str] = field(default_factory=list)
    has_ended: bool = False

    def say(self, text: str = "") -> None:
        """Show a line, wrapped at the width of the terminal; further lines are indented as list items are."""
        margin = " " * (len(text) - len(text.lstrip()))
        indent = f"{margin}   " if margin else ""
        lines = wrap(text, self.out.width, subsequent_indent=indent, break_long_words=False, break_on_hyphens=False)
        self.out.print("\n".join(lines), soft_wrap=True, markup=False)

    def show_link(self, link: str) -> None:
        """Show an address on a line of its own, in one piece."""
        self.out.print(link, soft_wrap=True, markup=False, style="cyan")

    def read(self, question: str, *, hidden: bool = False) -> str | None:
        """The answer to a question, which is empty if it was just asked; None at the end of input, and ever after."""
        if self.has_ended:
            return None
        if self.reader.asks and question:
            self.say(question)
        try:
            return clean_paste(self.reader.read(hidden=hidden))
        except EOFError:
            self.has_ended = True
            return None

    def agree(self, question: str) -> bool:
        """Whether a person in a terminal says yes; nobody else is asked."""
        if not self.reader.is_terminal:
            return self.given.yes
        if self.given.yes:
            return True
        answer = self.read(f"{question} [Y/n]")
        return answer is not None and answer.casefold() in {"", "y", "yes"}

    def ask_credential(self, wanted: Credential, setups: Sequence[PlatformSetup]) -> None:
        """Take a secret from the command line, or ask until it is one. Raises BadSetting where nobody can mend it."""
        if wanted.setting in self.chosen:
            return
        if wanted.setting in self.given.values:
            value = clean_paste(self.given.values[wanted.setting])
            if mistake := find_mistake(value, wanted, setups):
                raise _describe_mistake(wanted.setting, mistake)
            self.chosen[wanted.setting] = value
            return
        self._ask_credential(wanted, setups)

    def _ask_credential(self, wanted: Credential, setups: Sequence[PlatformSetup]) -> None:
        present = self.find_present(wanted.setting)
        mistake = find_mistake(clean_paste(present), wanted, setups) if present else ""
        if mistake:
            self.say(f"{name_variable(wanted.setting)} cannot be used: {mistake}")
        kept = "" if mistake else clean_paste(present)
        question = f"{_capitalize(wanted.name)} ({wanted.shape}); {wanted.place}."
        question += f" Enter keeps {mask(kept)}." if kept else ""
        for number in range(MAX_TRIES):
            answer = self.read("" if number else question, hidden=True)
            if not answer and kept:
                self.chosen[wanted.setting] = kept
                return
            if answer is None:
                option = f"--{wanted.setting.replace('_', '-')}-file"
                self.missing.append(f"{name_variable(wanted.setting)} (or {option}): {wanted.name}; {wanted.place}.")
                return
            mistake = find_mistake(answer, wanted, setups) if answer else f"The {wanted.name} is needed."
            if not mistake:
                self.chosen[wanted.setting] = answer
                return
            if not self.reader.is_terminal:
                raise _describe_mistake(wanted.setting, mistake)
            self._take_other(answer, wanted, setups, mistake)
        raise BadSetting(f"{name_variable(wanted.setting)} was not answered.")

    def _take_other(self, answer: str, wanted: Credential, setups: Sequence[PlatformSetup], mistake: str) -> None:
        """Keep a secret that was pasted in the place of another one of the same platform, or say what it is."""
        other = find_other(answer, wanted, setups)
        if other is None or other.setting in self.chosen:
            self.say(mistake)
            return
        self.chosen[other.setting] = answer
        self.say(f"This is the {other.name}: kept as that. Now the {wanted.name}:")

    def ask_plain(self, setting: str, question: str, find_problem: FindProblem, *, hidden: bool = False) -> str:
        """Take a value that may stay empty from the command line, or ask. Raises BadSetting as above."""
        if setting in self.given.values:
            value = clean_paste(self.given.values[setting])
            if problem := find_problem(value):
                raise _describe_mistake(setting, problem)
            self.chosen[setting] = value
            return value
        kept = self.find_value(setting)
        question += f" Enter keeps {mask(kept) if hidden else kept}." if kept else ""
        for number in range(MAX_TRIES):
            answer = self.read("" if number else question, hidden=hidden)
            if not answer:
                return kept
            problem = find_problem(answer)
            if not problem:
                self.chosen[setting] = answer
                return answer
            if not self.reader.is_terminal:
                raise _describe_mistake(setting, problem)
            self.say(problem)
        raise BadSetting(f"{name_variable(setting)} was not answered.")


def _describe_mistake(setting: str, mistake: str) -> BadSetting:
    return BadSetting(f"{name_variable(setting)}: {mistake}", hint="Nothing was written.")


def _capitalize(text: str) -> str:
    return text[:1].upper() + text[1:]


class AnswerReader(Protocol):
    """Reads one answer. `asks`: whether questions are shown; `is_terminal`: whether a person can be asked again."""

    asks: bool
    is_terminal: bool

    def read(self, *, hidden: bool) -> str:
        """The next line. Raises EOFError at the end of input."""


class TerminalReader:
    """Asks a person; secrets are not shown while they are typed."""

    asks = is_terminal = True

    def read(self, *, hidden: bool) -> str:
        """The next line. Raises EOFError at the end of input."""
        return getpass.getpass("> ") if hidden else input("> ")


class PipeReader:
    """Reads a line for each question, in their order."""

    asks = True
    is_terminal = False

    def read(self, *, hidden: bool) -> str:  # noqa: ARG002  - nothing is shown
        """The next line. Raises EOFError at the end of input."""
        line = sys.stdin.readline()
        if not line:
            raise EOFError
        return line.rstrip("\r\n")


class NoReader:
    """Answers nothing."""

    asks = False
    is_terminal = False

    def read(self, *, hidden: bool) -> str:  # noqa: ARG002  - as above
        """Raises EOFError."""
        raise EOFError


def choose_reader(*, may_ask: bool) -> AnswerReader:
    """A terminal if there is one, else the pipe."""
    if not may_ask:
        return NoReader()
    return TerminalReader() if sys.stdin.isatty() else PipeReader()
