"""One attempt to log in, which the browser keeps in a cookie until the platform sends it back. Pure."""

from __future__ import annotations

import base64
import hmac
import json
import secrets
from dataclasses import asdict, dataclass, field, fields
from hashlib import sha256

RANDOM_BYTES = 32


@dataclass(frozen=True, slots=True)
class LoginAttempt:
    """What was sent to a provider of logins, so that only this browser can complete it.

    `target`: the path to show afterwards; `workspace`: the only one to log in to, if it is given; `former`: the token
    of the login that the new one replaces, because the browser does not send its cookie on the way back.
    """

    provider: str
    target: str
    workspace: str
    state: str = field(repr=False)
    nonce: str = field(repr=False)
    verifier: str = field(repr=False)
    former: str = field(repr=False)

    @property
    def challenge(self) -> str:
        """The hash of the verifier (PKCE, S256)."""
        return base64.urlsafe_b64encode(sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()

    def is_answered_by(self, provider: str, state: str) -> bool:
        """Whether a response of a provider belongs to this attempt."""
        return self.provider == provider and hmac.compare_digest(self.state.encode(), state.encode())


def start_attempt(provider: str, target: str, workspace: str, former: str = "") -> LoginAttempt:
    """A new attempt with random secrets."""
    state, nonce, verifier = (secrets.token_urlsafe(RANDOM_BYTES) for _ in range(3))
    return LoginAttempt(provider, target, workspace, state, nonce, verifier, former)


def encode_attempt(attempt: LoginAttempt) -> str:
    """The attempt as the value of a cookie."""
    return base64.urlsafe_b64encode(json.dumps(asdict(attempt)).encode()).decode()


def decode_attempt(cookie: str) -> LoginAttempt | None:
    """The attempt in a cookie; None if there is none."""
    try:
        found = json.loads(base64.urlsafe_b64decode(cookie))
        values = [found[member.name] for member in fields(LoginAttempt)]
    except (ValueError, TypeError, KeyError, RecursionError):
        return None
    return LoginAttempt(*values) if all(isinstance(value, str) and value.isprintable() for value in values) else None
