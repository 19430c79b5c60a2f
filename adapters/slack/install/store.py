"""The Slack SDK's stores of installations and of OAuth states, in the bot's database and encrypted by a key."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog
from cryptography.fernet import Fernet, InvalidToken, MultiFernet
from slack_bolt.error import BoltError
from slack_sdk.oauth.installation_store import Installation
from slack_sdk.oauth.installation_store.async_installation_store import AsyncInstallationStore
from slack_sdk.oauth.state_store.async_state_store import AsyncOAuthStateStore

from adapters.slack.context import NAME
from bot.errors import BadSetting
from bot.store.access.installations import InstallationRecord
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from bot.store.access.installations import Installations, InstallationStates
    from engine import Clock


log = structlog.get_logger(__name__)

STATE_SECONDS = 600  # from the start of an installation to its end
STATE_PREFIX, STATE_BYTES, MAX_STATE_LENGTH = "installation ", 16, 500
STORED_FIELDS = (
    "app_id",
    "enterprise_id",
    "enterprise_name",
    "enterprise_url",
    "team_id",
    "team_name",
    "bot_token",
    "bot_id",
    "bot_user_id",
    "bot_scopes",
    "bot_refresh_token",
    "bot_token_expires_at",
    "user_id",
    "is_enterprise_install",
    "installed_at",
)  # tokens of users are never requested
KEYS = "THREADLORE_SLACK_ENCRYPTION_KEYS"
KEY_HINT = (
    'A key is 32 random bytes in URL-safe base64: python -c "from cryptography.fernet import Fernet;'
    ' print(Fernet.generate_key().decode())"'
)


@dataclass(frozen=True, slots=True)
class StoredInstallation:
    """An installation, and the row that it was read from."""

    installation: Installation
    record: InstallationRecord


def installation_key(installation: Installation) -> str:
    """The id under which an installation is stored: that of its organization if it is for all of it."""
    id_ = installation.enterprise_id if installation.is_enterprise_install else installation.team_id
    return str(id_ or "")


class InstallationStore(AsyncInstallationStore):
    """One installation for each workspace, and one for each organization that installed the app as a whole."""

    def __init__(self, table: Installations, cipher: TokenCipher) -> None:
        self._table = table
        self._cipher = cipher
        self._decrypted: dict[InstallationRecord, Installation | None] = {}

    async def async_save(self, installation: Installation) -> None:
        """Add or replace an installation; if the database fails, raise the error that the library shows."""
        try:
            record = InstallationRecord(installation_key(installation), self._encrypt(installation))
            await self._table.save(NAME, record)
        except EngineError as error:
            raise BoltError(str(error)) from error

    async def list_all(self) -> list[StoredInstallation]:
        """All installations that can be decrypted; others are logged once."""
        records, known = await self._table.list_all(NAME), self._decrypted
        self._decrypted = {record: known[record] if record in known else self._decrypt(record) for record in records}
        return [StoredInstallation(found, record) for record, found in self._decrypted.items() if found]

    async def replace(self, stored: StoredInstallation, installation: Installation) -> bool:
        """Replace an installation unless another process did."""
        return await self._table.replace(NAME, stored.record, self._encrypt(installation))

    async def delete(self, key: str) -> None:
        """Delete the installation with this key."""
        await self._table.delete(NAME, key)

    async def reencrypt(self) -> None:
        """Encrypt all tokens with the first key that are encrypted with an older one."""
        old = [
            installation
            for installation in await self.list_all()
            if not self._cipher.is_current(installation.record.payload)
        ]
        for installation in old:
            await self.replace(installation, installation.installation)
        if old:
            log.info("slack.tokens_reencrypted", count=len(old))

    def _encrypt(self, installation: Installation) -> str:
        return self._cipher.encrypt(json.dumps({name: getattr(installation, name) for name in STORED_FIELDS}))

    def _decrypt(self, record: InstallationRecord) -> Installation | None:
        """Read an installation; None if no key fits, or if the payload is that of another one."""
        text = self._cipher.decrypt(record.payload)
        installation = _parse(text) if text is not None else None
        if installation is None or installation_key(installation) != record.workspace:
            hint = "THREADLORE_SLACK_ENCRYPTION_KEYS lacks its key, or the row was altered; install the app again."
            log.error("slack.installation_unreadable", workspace=record.workspace, hint=hint)
            return None
        return installation


def _parse(text: str) -> Installation | None:
    """An installation; fields of a later version are left out. None if it cannot be read."""
    try:
        values = json.loads(text)
        return Installation(**{name: values[name] for name in STORED_FIELDS if name in values})
    except (ValueError, TypeError, AttributeError):
        return None


class StateStore(AsyncOAuthStateStore):
    """States of installations in progress, each for one installation within ten minutes.

    A state is sealed, so beginning an installation stores nothing; what a stranger can make is no row of the database.
    """

    def __init__(self, table: InstallationStates, cipher: TokenCipher, clock: Clock) -> None:
        self._table = table
        self._cipher = cipher
        self._clock = clock

    async def async_issue(self, *_: Any, **__: Any) -> str:
        """A new state."""
        return self._cipher.seal(STATE_PREFIX + secrets.token_urlsafe(STATE_BYTES), self._clock.time())

    async def async_consume(self, state: str) -> bool:
        """Whether a state was made here within ten minutes, and led to no installation yet."""
        now = self._clock.time()
        opened = self._cipher.open_sealed(state, STATE_SECONDS, now) if len(state) <= MAX_STATE_LENGTH else None
        return opened is not None and opened.startswith(STATE_PREFIX) and not await self._table.contains(opened, now)

    async def spend(self, state: str) -> None:
        """Accept a state no more, since the app was installed by it."""
        now = self._clock.time()
        if (opened := self._cipher.open_sealed(state, STATE_SECONDS, now)) is not None:
            await self._table.add(opened, now + STATE_SECONDS, now)


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
