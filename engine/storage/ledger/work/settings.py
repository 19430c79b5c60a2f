"""Settings of the data directory, and the numbers of changes."""

from __future__ import annotations

from engine.storage.sql.database import Place_co, Topic, reading, writing


class Settings(Topic[Place_co]):
    """Settings of the data directory by key, and numbers of changes."""

    @writing
    def next_generation(self) -> int:
        """The number of this change, greater than all before it."""
        [[value]] = self.db.execute_fetchall(
            "INSERT INTO meta (key, value) VALUES ('generation', '1')"
            " ON CONFLICT (key) DO UPDATE SET value = CAST(CAST(meta.value AS BIGINT) + 1 AS TEXT) RETURNING value"
        )
        return int(value)

    @reading
    def get(self, key: str) -> str:
        """A setting of the data directory, "" if there is none."""
        rows = self.db.execute_fetchall("SELECT value FROM meta WHERE key = ?", (key,))
        return next((str(row[0]) for row in rows), "")

    @writing
    def set(self, key: str, value: str | int) -> None:
        """Save a setting of the data directory."""
        self.db.execute(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT (key) DO UPDATE SET value = excluded.value",
            (key, str(value)),
        )

    def get_int(self, key: str) -> int:
        """A numeric setting of the data directory, 0 if there is none."""
        return int(self.get(key) or 0)

    @reading
    def current_generation(self) -> int:
        """The number of the last change."""
        return self.get_int("generation")
