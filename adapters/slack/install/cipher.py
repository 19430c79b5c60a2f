"""Encrypt tokens that are stored: the first key encrypts, all keys decrypt."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

from bot.errors import BadSetting

if TYPE_CHECKING:
    from collections.abc import Sequence

KEYS = "THREADLORE_SLACK_ENCRYPTION_KEYS"
KEY_HINT = (
    'A key is 32 random bytes in URL-safe base64: python -c "from cryptography.fernet import Fernet;'
    ' print(Fernet.generate_key().decode())"'
)


class TokenCipher:
    """Fernet (AES-128-CBC with HMAC-SHA256) with several keys."""

    def __init__(self, keys: Sequence[str]) -> None:
        """Raises BadSetting if there is no key, or one is malformed."""
        if not keys:
            raise BadSetting(f"{KEYS} is not set.", hint=KEY_HINT)
        try:
            ciphers = [Fernet(key) for key in keys]
        except ValueError as error:
            raise BadSetting(f"{KEYS} has a key that cannot be used.", hint=KEY_HINT) from error
        self._first, self._all = ciphers[0], MultiFernet(ciphers)

    def encrypt(self, text: str) -> str:
        """Encrypt with the first key."""
        return self._all.encrypt(text.encode()).decode("ascii")

    def decrypt(self, payload: str) -> str | None:
        """Decrypt with any key; None if none fits, or if the payload was altered."""
        try:
            return self._all.decrypt(payload).decode()
        except InvalidToken:
            return None

    def seal(self, text: str, now: float) -> str:
        """Encrypt a text for an address or a cookie; accepted for some time from `now` (seconds since 1970) on."""
        return self._all.encrypt_at_time(text.encode(), int(now)).decode("ascii").rstrip("=")

    def open_sealed(self, sealed: str, seconds: int, now: float) -> str | None:
        """A text that was sealed within these seconds; None if it was not."""
        try:
            padding = "=" * (-len(sealed) % 4)
            return self._all.decrypt_at_time(f"{sealed}{padding}", seconds, int(now)).decode()
        except (InvalidToken, ValueError):  # ValueError: not ASCII
            return None

    def is_current(self, payload: str) -> bool:
        """Whether a payload is encrypted with the first key."""
        try:
            self._first.decrypt(payload)
        except InvalidToken:
            return False
        return True
