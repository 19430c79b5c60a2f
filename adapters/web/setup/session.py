"""Who may set the program up: the browser in which the one-time code of the terminal was entered last."""

from __future__ import annotations

import hmac
import secrets
from typing import TYPE_CHECKING

from bot.errors import TooManyRequests
from bot.listeners.attempts import Attempts

if TYPE_CHECKING:
    from collections.abc import Callable

    from engine import Clock

ALPHABET = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789"  # without I, O, 0 and 1
CODE_LENGTH = 8
MAX_FAILURES, MAX_CODES = 20, 5  # within a minute


class SetupSession:
    """One browser at a time. `announce` shows a code to whoever sees the terminal."""

    def __init__(self, clock: Clock, announce: Callable[[str], None]) -> None:
        self._announce = announce
        self._failures, self._codes = Attempts(clock, MAX_FAILURES), Attempts(clock, MAX_CODES)
        self._code = self._cookie = ""

    @property
    def has_code(self) -> bool:
        """Whether the code that was shown last can still be entered."""
        return bool(self._code)

    def renew_code(self) -> None:
        """Show another code, in place of the last one. Raises TooManyRequests."""
        if self._codes.has_reached_limit(""):
            raise TooManyRequests("Too many codes were asked for.")
        self._codes.record("")
        self._code = "".join(secrets.choice(ALPHABET) for _ in range(CODE_LENGTH))
        self._announce(f"{self._code[:4]}-{self._code[4:]}")

    def enter(self, text: str) -> str:
        """The cookie of the browser in which the code was entered; empty if it is another text.

        A code is entered once, and ends what another browser began. Raises TooManyRequests for wrong ones alone: a code
        has 40 bits, and no other program of this computer may lock its owner out.
        """
        typed = "".join(filter(str.isalnum, text)).upper()
        if not self._code or not hmac.compare_digest(typed.encode(), self._code.encode()):
            if self._failures.has_reached_limit(""):
                raise TooManyRequests("Too many wrong codes were entered.")
            self._failures.record("")
            return ""
        self._code, self._cookie = "", secrets.token_urlsafe(32)
        return self._cookie

    def holds(self, cookie: str) -> bool:
        """Whether a browser may set the program up."""
        return bool(self._cookie) and hmac.compare_digest(cookie.encode(), self._cookie.encode())
