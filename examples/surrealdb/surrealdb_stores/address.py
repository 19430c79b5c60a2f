"""The address of a SurrealDB database, with the user of a server taken out of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import unquote, urlsplit

DEFAULT_NAME = "threadlore"
SERVER_SCHEMES = ("ws", "wss")
FILES = "surrealkv://"


@dataclass(frozen=True, slots=True)
class SurrealAddress:
    """Where a database is. `url`: without user, namespace and database, as the library takes it."""

    url: str
    namespace: str = DEFAULT_NAME
    database: str = DEFAULT_NAME
    user: str = ""
    password: str = field(default="", repr=False)

    @property
    def is_server(self) -> bool:
        """Whether a server has the data, not this process."""
        return self.url.startswith(tuple(f"{scheme}://" for scheme in SERVER_SCHEMES))

    @property
    def folder(self) -> Path | None:
        """The folder of its files, if this process has them."""
        return Path(self.url.removeprefix(FILES)) if self.url.startswith(FILES) else None

    @property
    def label(self) -> str:
        """The address without its password, for messages."""
        return f"{self.url}/{self.namespace}/{self.database}" if self.is_server else self.url


def parse_surreal_address(text: str) -> SurrealAddress:
    """Parse `ws://user:password@host:8000/namespace/database`, `surrealkv:///folder` or `mem://`.

    User, namespace and database may be left out. Raises ValueError, whose message does not repeat the address.
    """
    scheme = text.partition("://")[0]
    if scheme not in SERVER_SCHEMES:
        return SurrealAddress(text)
    parts = urlsplit(text)
    names = [unquote(name) for name in parts.path.strip("/").split("/") if name]
    if not parts.hostname or len(names) > 2 or parts.query or parts.fragment:
        raise ValueError("it must be ws://user:password@host:8000/namespace/database")
    namespace, database = [*names, DEFAULT_NAME, DEFAULT_NAME][:2]
    return SurrealAddress(
        f"{scheme}://{parts.netloc.rpartition('@')[2]}",
        namespace,
        database,
        unquote(parts.username or ""),
        unquote(parts.password or ""),
    )
