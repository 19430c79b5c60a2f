"""An IMAP server over TLS on this machine, with as much of the protocol as readers of mail use."""

from __future__ import annotations

import asyncio
import re
import ssl
from base64 import b64decode
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from tests.support.certificates import Certificate, make_certificate

USER, PASSWORD = "help@town.example", 'pass"wörd\\'
COMMAND = re.compile(rb"(\S+) ((?:UID )?\S+) ?(.*)\r\n", re.DOTALL)


@dataclass
class ImapFolder:
    """Messages by number. `flags`: of the folder in a list; `deleted`: numbers of messages marked as deleted."""

    messages: dict[int, bytes] = field(default_factory=dict)
    validity: int = 1
    flags: str = "\\HasNoChildren"
    deleted: set[int] = field(default_factory=set)


@dataclass
class ImapServer:
    """Folders by their names on the wire. `commands`: what was asked; `literal_size`: announced for messages."""

    certificate: Certificate
    folders: dict[str, ImapFolder] = field(default_factory=dict)
    commands: list[str] = field(default_factory=list)
    capabilities: str = "IMAP4rev1 AUTH=PLAIN"
    literal_size: int = 0
    port: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one client until it leaves."""
        with suppress(ConnectionError):
            await self._converse(reader, writer)
        writer.close()

    async def _converse(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"* OK ready\r\n")
        folder = ImapFolder()
        while match := COMMAND.fullmatch(await reader.readline()):
            tag, name, rest = match[1], match[2].decode().upper(), match[3].decode("latin-1")
            self.commands.append(f"{name} {rest}".strip())
            done = b"OK done"
            match name:
                case "CAPABILITY":
                    writer.write(f"* CAPABILITY {self.capabilities}\r\n".encode())
                case "AUTHENTICATE":
                    writer.write(b"+ \r\n")
                    given = b64decode(await reader.readline())
                    done = done if given == f"\0{USER}\0{PASSWORD}".encode() else b"NO wrong"
                case "LOGIN":
                    done = done if rest == '"mina" "plain"' else b"NO wrong"
                case "LIST":
                    rows = (f'* LIST ({each.flags}) "/" "{path}"\r\n' for path, each in self.folders.items())
                    writer.write("".join(rows).encode())
                case "EXAMINE":
                    found = self.folders.get(rest.strip('"'))
                    done, folder = (b"OK [READ-ONLY] done", found) if found else (b"NO no such folder", ImapFolder())
                    writer.write(
                        f"* {len(folder.messages)} EXISTS\r\n* OK [UIDVALIDITY {folder.validity}] ok\r\n".encode()
                    )
                case "UID SEARCH":
                    numbers = (str(message) for message in folder.messages if message not in folder.deleted)
                    writer.write(f"* SEARCH {' '.join(numbers)}\r\n".encode())
                case "UID FETCH":
                    self._fetch(writer, folder, rest)
                case "LOGOUT":
                    writer.write(b"* BYE\r\n")
                case _:
                    done = b"BAD unknown"
            writer.write(tag + b" " + done + b"\r\n")
            await writer.drain()

    def _fetch(self, writer: asyncio.StreamWriter, folder: ImapFolder, rest: str) -> None:
        number, _, wanted = rest.partition(" ")
        message = folder.messages.get(int(number))
        if message is None:
            return
        if "SIZE" in wanted:
            writer.write(f"* 1 FETCH (UID {number} RFC822.SIZE {len(message)})\r\n".encode())
        else:
            assert wanted == "(BODY.PEEK[])"
            size = self.literal_size or len(message)
            writer.write(f"* 1 FETCH (UID {number} BODY[] {{{size}}}\r\n".encode() + message + b")\r\n")


@asynccontextmanager
async def open_imap_server(home: Path) -> AsyncIterator[ImapServer]:
    """Serve on a free port of the loopback device."""
    server = ImapServer(make_certificate(home))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(server.certificate.file, server.certificate.key)
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0, ssl=context)
    server.port = listening.sockets[0].getsockname()[1]
    async with listening:
        yield server


def build_mail(subject: str, text: str) -> bytes:
    """A message with a header."""
    lines = (
        "From: Mina <mina@town.example>",
        f"To: <{USER}>",
        f"Subject: {subject}",
        "Date: Fri, 20 Nov 2026 10:00:00 +0000",
        "",
        text,
        "",
    )
    return "\r\n".join(lines).encode()
