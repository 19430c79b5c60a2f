"""A shared mailbox over IMAP: the messages of its folders, over TLS alone."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from datetime import date
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import unquote, urlsplit

from adapters.sources.imap import ImapAccount, ImapSession, encode_folder
from bot.errors import BadSetting, ItemGone
from bot.platform.document_source import SECRET_OPTIONS, FetchedItem, ScanEnd, SourceItem, SourceKind

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from bot.platform.document_source import Scanned, SourceTools

Result = TypeVar("Result")

USER, FOLDERS, SINCE = "user", "folders", "since"  # options
PORT, INBOX, EVERY = 993, "INBOX", "*"
HINT = "For example: imaps://imap.example --option user=help@town.example --option secret-file=PATH"


@dataclass(slots=True)
class MailboxSource:
    """The messages of folders; none of these: of all. `since`: only newer ones."""

    session: ImapSession
    folders: tuple[str, ...]
    since: date | None
    max_size: int
    at_once: int = 1
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def scan(self, cursor: str) -> AsyncGenerator[Scanned]:  # noqa: ARG002 - a folder lists all messages
        """Yield the messages that are not marked as deleted. Raises SourceUnavailable."""
        problems = list[str]()
        for folder in self.folders or tuple(await self._run(self.session.list_folders)):
            listed = await self._run(self.session.list_messages, folder, self.since)
            if listed is None:
                problems.append(f"There is no folder {folder}.")
                continue
            validity, numbers = listed
            for number in numbers:
                yield SourceItem(f"{validity}/{number}/{folder}", validity, f"{folder}, message {number}")
        yield ScanEnd(is_complete=not problems, problems=tuple(problems))

    async def fetch(self, item: SourceItem, validator: str) -> FetchedItem | None:
        """A message, which never changes. Raises ItemGone, ItemNotRead and SourceUnavailable."""
        if validator == item.id:
            return None
        validity, _, rest = item.id.partition("/")
        number, _, folder = rest.partition("/")
        if not (number.isdigit() and folder):
            raise ItemGone("It is no message.")
        data = await self._run(self.session.read_message, folder, validity, int(number), self.max_size)
        return FetchedItem(f"message-{number}.eml", data, validator=item.id)

    async def close(self) -> None:
        """Log out."""
        async with self._lock:
            await asyncio.to_thread(self.session.close)

    async def _run(self, call: Callable[..., Result], *arguments: Any) -> Result:
        """Call a method of the session in a thread, one at a time."""
        async with self._lock:
            return await asyncio.to_thread(call, *arguments)


def open_mailbox(address: str, options: Mapping[str, str], tools: SourceTools) -> MailboxSource:
    """The messages of a mailbox. Raises BadSetting."""
    try:
        parts = urlsplit(address)
        host, port = parts.hostname or "", parts.port or PORT
    except ValueError as error:
        raise BadSetting(f"“{address}” is no address of a mailbox.", hint=HINT) from error
    if parts.scheme != "imaps" or not host or parts.path.strip("/") or parts.query:
        raise BadSetting("A mailbox is read over TLS alone: imaps://HOST.", hint=HINT)
    if parts.password is not None:
        raise BadSetting("The address contains a password.", hint=HINT)
    user, secret = unquote(parts.username or "") or options.get(USER, ""), tools.secret.get_secret_value()
    if not user.strip() or not user.isprintable():
        raise BadSetting("The mailbox needs a user.", hint=HINT)
    if not secret:
        raise BadSetting("The mailbox needs a secret.", hint=HINT)
    account = ImapAccount(host, port, user, secret)
    return MailboxSource(ImapSession(account), _parse_folders(options), _parse_since(options), tools.max_size)


def _parse_folders(options: Mapping[str, str]) -> tuple[str, ...]:
    named = options.get(FOLDERS, INBOX)
    if named.strip() == EVERY:
        return ()
    folders = tuple(part.strip() for part in named.split(",") if part.strip())
    if not folders or not all(folder.isprintable() for folder in folders):
        raise BadSetting("The folders are names with commas in between, or * for all.")
    return tuple(map(encode_folder, folders))


def _parse_since(options: Mapping[str, str]) -> date | None:
    try:
        return date.fromisoformat(options[SINCE]) if options.get(SINCE) else None
    except ValueError as error:
        raise BadSetting("“since” is a day, such as 2026-01-31.") from error


MAILBOX = SourceKind(
    "a mailbox",
    open_mailbox,
    lambda address: address.startswith(("imaps:", "imap:")),
    noun="message",
    every=900.0,
    options=frozenset({USER, FOLDERS, SINCE}) | SECRET_OPTIONS,
    forms=("imaps://HOST",),
)
