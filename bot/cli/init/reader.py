"""Where answers come from: a terminal, lines of a pipe, or nowhere."""

from __future__ import annotations

import getpass
import sys
from typing import Protocol


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
