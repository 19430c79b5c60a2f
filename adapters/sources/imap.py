"""Talk to an IMAP server over TLS: list the messages of folders and read them, without changing anything.

Everything here blocks, for a limited time: callers use a thread.
"""

from __future__ import annotations

import imaplib
import re
import ssl
from base64 import b64encode
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from bot.errors import ItemGone, ItemNotRead, SourceUnavailable

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import date

_ESCAPED = re.compile(r"\\(.)")
TIMEOUT_SECONDS = 30.0  # without a byte
MAX_RESPONSE = 64 * 2**20  # bytes of a literal that is no message
MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
LEFT_OUT = frozenset({"\\noselect", "\\nonexistent", "\\trash", "\\junk", "\\drafts", "\\all"})
_LISTED = re.compile(rb'\((?P<flags>[^)]*)\) (?:"(?:[^"\\]|\\.)*"|NIL) ?(?P<name>.*)', re.DOTALL)
_SIZE = re.compile(rb"RFC822\.SIZE (\d+)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class ImapAccount:
    """Where to log in, and as whom."""

    host: str
    port: int
    user: str
    password: str = field(repr=False)


class _Connection(imaplib.IMAP4_SSL):
    """A connection whose server cannot make it read without an end."""

    limit = MAX_RESPONSE

    def read(self, size: int) -> bytes:
        """Read a literal. Raises imaplib.IMAP4.abort if it is too large."""
        if size > self.limit:
            raise self.abort("the server sends too much")
        return super().read(size)


class ImapSession:
    """A session that begins with its first use. Every method raises SourceUnavailable if the server cannot be used."""

    def __init__(self, account: ImapAccount) -> None:
        self._account = account
        self._connection: _Connection | None = None
        self._folder = ""
        self._validity = ""  # of the numbers of messages in the open folder

    def list_folders(self) -> list[str]:
        """The names of the folders with messages, as the server writes them; no drafts, no junk, no trash."""
        with self._translate_errors() as connection:
            found = [_parse_listed(line) for line in connection.list()[1] if line]
        return sorted(name for name in found if name)

    def list_messages(self, folder: str, since: date | None) -> tuple[str, list[int]] | None:
        """The validity of the numbers of messages, and these numbers; None if there is no such folder."""
        if not self._open(folder):
            return None
        with self._translate_errors() as connection:
            criteria = ["UNDELETED", *(["SINCE", _format_date(since)] if since else [])]
            status, data = connection.uid("SEARCH", *criteria)
            if status != "OK":
                raise connection.abort("the search failed")
        numbers = b" ".join(part for part in data if isinstance(part, bytes)).split()
        return self._validity, sorted(int(number) for number in numbers if number.isdigit())

    def read_message(self, folder: str, validity: str, number: int, limit: int) -> bytes:
        """A whole message; it stays unread. Raises ItemGone and ItemNotRead."""
        if not self._open(folder):
            raise ItemGone("There is no such folder.")
        if validity != self._validity:
            raise ItemGone("The folder was replaced.")
        with self._translate_errors() as connection:
            size = _find_size(connection.uid("FETCH", str(number), "(RFC822.SIZE)")[1])
            if size is None:
                raise ItemGone("The message is gone.")
            if size > limit:
                raise ItemNotRead(f"It has {size / 2**20:.0f} MiB; {limit / 2**20:.0f} are allowed.")
            fetched = connection.uid("FETCH", str(number), "(BODY.PEEK[])")[1]
        bodies = [response[1] for response in fetched if isinstance(response, tuple)]
        if not bodies:
            raise ItemGone("The message is gone.")
        return bytes(bodies[0])

    def close(self) -> None:
        """Log out."""
        connection, self._connection, self._folder = self._connection, None, ""
        if connection is not None:
            with suppress(OSError, imaplib.IMAP4.error):
                connection.logout()
            with suppress(OSError):
                connection.shutdown()

    def _open(self, folder: str) -> bool:
        """Open a folder to read it; false if there is none."""
        with self._translate_errors() as connection:
            if self._folder != folder:
                self._folder = ""
                if connection.select(quote(folder), readonly=True)[0] != "OK":
                    return False
                [validity, *_] = connection.response("UIDVALIDITY")[1]
                self._validity = (validity or b"0").decode("ascii", "replace")
                self._folder = folder
        return True

    @contextmanager
    def _translate_errors(self) -> Iterator[_Connection]:
        host = self._account.host
        try:
            yield self._connect()
        except ssl.SSLCertVerificationError as error:
            raise SourceUnavailable(
                f"The certificate of {host} is not trusted: {error.verify_message}.",
                hint="SSL_CERT_FILE names the certificates that are trusted.",
            ) from error
        except (imaplib.IMAP4.error, OSError, ValueError) as error:
            self.close()
            told = "" if isinstance(error, ValueError) else f": {error}"  # that one may quote the secret
            raise SourceUnavailable(f"{host} cannot be read now ({type(error).__name__}{told}).") from error

    def _connect(self) -> _Connection:
        if self._connection is None:
            account, context = self._account, ssl.create_default_context()
            opened = _Connection(account.host, account.port, ssl_context=context, timeout=TIMEOUT_SECONDS)
            self._connection = opened
            try:
                _log_in(opened, account)
            except imaplib.IMAP4.error as error:
                self.close()
                raise SourceUnavailable(
                    f"{account.host} refuses the login of {account.user}.", hint="Check the user and the secret."
                ) from error
        return self._connection


def quote(text: str) -> str:
    """A string as IMAP reads it. It must not contain line breaks."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def encode_folder(name: str) -> str:
    """The name of a folder as servers write it: modified UTF-7 (RFC 3501, 5.1.3)."""
    encoded, run = [], ""
    for character in [*name, ""]:
        if character and not " " <= character <= "~":
            run += character
            continue
        if run:
            encoded.append("&" + b64encode(run.encode("utf-16-be")).decode().rstrip("=").replace("/", ",") + "-")
            run = ""
        encoded.append("&-" if character == "&" else character)
    return "".join(encoded)


def _log_in(connection: _Connection, account: ImapAccount) -> None:
    """Log in by a mechanism that any characters go through. Raises imaplib.IMAP4.error."""
    if "AUTH=PLAIN" in connection.capabilities:
        secret = f"\0{account.user}\0{account.password}".encode()
        connection.authenticate("PLAIN", lambda _: secret)
    else:
        connection.login(quote(account.user), account.password)


def _parse_listed(row: bytes | tuple[bytes, bytes]) -> str:
    """The name of a listed folder; empty for one that is left out."""
    head, literal = row if isinstance(row, tuple) else (row, b"")
    match = _LISTED.match(head)
    if match is None or LEFT_OUT & set(match["flags"].decode("ascii", "replace").lower().split()):
        return ""
    name = (literal or match["name"]).decode("ascii", "replace").strip()
    if not literal and name.startswith('"') and name.endswith('"') and len(name) > 1:
        name = _ESCAPED.sub(r"\1", name[1:-1])
    return name if name.isprintable() else ""


def _find_size(fetched: list[bytes | tuple[bytes, bytes] | None]) -> int | None:
    for response in fetched:
        head = response[0] if isinstance(response, tuple) else response
        if head and (match := _SIZE.search(head)):
            return int(match[1])
    return None


def _format_date(day: date) -> str:
    return f"{day.day}-{MONTHS[day.month - 1]}-{day.year}"
