"""Databases of former versions, as the scripts of these versions made them.

The folder frozen holds the first version of each schema in PostgreSQL, which the program itself needs no longer: it
only updates what is there. Those of SQLite are in the program, because backups of any version are copied row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from engine.storage.sql.connection import Dialect
from engine.storage.sql.schema_source import SchemaSource

FROZEN = Path(__file__).parent / "frozen"
FIRST_SCRIPTS = {
    "engine.storage.postgres": FROZEN / "processes.sql",
    "engine.storage.ledger.schema": FROZEN / "ledger.sql",
    "bot.store.schema": FROZEN / "bot.sql",
}


@dataclass(frozen=True, slots=True)
class FormerSource(SchemaSource):
    """A source whose new databases have the version `frozen`, made by the scripts of that time."""

    def render(self, dialect: Dialect) -> str:
        chain = self.load_chain(dialect)
        if dialect is Dialect.POSTGRES:
            chain[1] = FIRST_SCRIPTS[self.package].read_text(encoding="utf-8")
        return "\n".join(chain[number] for number in range(1, self.frozen + 1))

    def list_indexes(self, dialect: Dialect) -> list[str]:
        return []  # later scripts drop some of the first ones
