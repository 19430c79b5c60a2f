"""Tables of opt-outs, ratings, shown hints and token usage."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from bot.platform.models import Location
from engine.storage.sql.fragments import from_micros, text_list, to_micros

if TYPE_CHECKING:
    from collections.abc import Collection
    from datetime import date, datetime

    from bot.store.database import Database
    from engine.storage.sql.connection import Connection

IN_THREAD = "+thread"  # ends the reason of a vote whose comment is the id of a message
DAY_MICROS = 24 * 60 * 60 * 1_000_000


class OptOuts:
    """People whose messages are not indexed."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def is_opted_out(self, platform: str, workspace: str, person: str, time: datetime | None = None) -> bool:
        """Whether a person is opted out now; with a time, also whether they were when they wrote then."""
        sql = (
            "SELECT 1 FROM opt_out WHERE platform = ? AND workspace = ? AND person = ?"
            " AND (ended_at IS NULL OR ended_at > ?)"
        )
        return await self._database.fetch_one(sql, (platform, workspace, person, to_micros(time))) is not None

    async def find_ends(self, platform: str, workspace: str, people: Collection[str]) -> dict[str, datetime | None]:
        """The times at which the opt-outs of these people ended; None for those that last. Others are left out."""
        rows = await self._database.fetch_all(
            "SELECT person, ended_at FROM opt_out WHERE platform = ? AND workspace = ?"
            " AND person IN (SELECT value FROM @list(?))",
            (platform, workspace, text_list(people)),
        )
        return {person: None if ended is None else from_micros(ended) for person, ended in rows}

    async def opt_out(self, platform: str, workspace: str, person: str) -> None:
        """Opt a person out; the caller deletes what is already indexed."""
        sql = (
            "INSERT INTO opt_out VALUES (?, ?, ?, NULL)"
            " ON CONFLICT (platform, workspace, person) DO UPDATE SET ended_at = NULL"
        )
        await self._database.execute(sql, (platform, workspace, person))

    async def opt_in(self, platform: str, workspace: str, person: str, since: datetime) -> None:
        """Opt a person in again from this time on; older messages stay excluded."""
        sql = "UPDATE opt_out SET ended_at = ? WHERE platform = ? AND workspace = ? AND person = ? AND ended_at IS NULL"
        await self._database.execute(sql, (to_micros(since), platform, workspace, person))


def is_opted_out(db: Connection, room: str, person: str) -> bool:
    """Whether the author of something in a room is opted out now, within the transaction that stores it."""
    place = Location.from_room(room)
    sql = "SELECT 1 FROM opt_out WHERE platform = ? AND workspace = ? AND person = ? AND ended_at IS NULL"
    return bool(db.execute_fetchall(sql, (place.platform, place.workspace, person)))


class Feedback:
    """Ratings, one per answer and person."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record(self, answer: str, person: str, up: bool) -> bool:  # noqa: FBT001 - a thumb points up or down
        """Store a rating; False if it is unchanged or the answer does not exist."""
        sql = (
            "INSERT INTO feedback (answer, person, up) SELECT id, ?, ? FROM answer WHERE id = ?"
            " ON CONFLICT (answer, person) DO UPDATE SET up = excluded.up, reason = '', comment = ''"
            " WHERE feedback.up <> excluded.up RETURNING answer"
        )
        return bool(await self._database.execute(sql, (person, up, answer)))

    async def record_reason(self, answer: str, person: str, reason: str, comment: str) -> bool:
        """Store why an answer did not help, with the vote; False if there is no such finished answer anymore."""
        sql = (
            "INSERT INTO feedback (answer, person, up, reason, comment) SELECT id, ?, ?, ?, ? FROM answer"
            " WHERE id = ? AND state = 'done' ON CONFLICT (answer, person) DO UPDATE"
            " SET up = excluded.up, reason = excluded.reason, comment = excluded.comment RETURNING answer"
        )
        return bool(await self._database.execute(sql, (person, False, reason, comment, answer)))

    async def awaits_comment(self, answer: str, person: str, message: str) -> bool:
        """Whether a person voted an answer down without a comment, or with this message as the comment."""
        sql = (
            "SELECT 1 FROM feedback WHERE answer = ? AND person = ? AND NOT up"
            " AND (comment = '' OR (comment = ? AND reason LIKE ?))"
        )
        return bool(await self._database.fetch_all(sql, (answer, person, message, f"%{IN_THREAD}")))

    async def record_reply(self, answer: str, person: str, message: str) -> None:
        """Keep a message as the comment of a vote without one."""
        sql = (
            "UPDATE feedback SET reason = reason || ?, comment = ?"
            " WHERE answer = ? AND person = ? AND NOT up AND comment = ''"
        )
        await self._database.execute(sql, (IN_THREAD, message, answer, person))

    async def list_replies(self, answers: Collection[str]) -> list[tuple[str, str, str]]:
        """The replies that say what was wrong with these answers: answer, reason and message id."""
        sql = (
            "SELECT answer, reason, comment FROM feedback WHERE answer IN (SELECT value FROM @list(?)) AND NOT up"
            " AND reason LIKE ? AND comment <> '' ORDER BY answer, person"
        )
        rows = await self._database.fetch_all(sql, (text_list(sorted(answers)), f"%{IN_THREAD}"))
        return [(row[0], row[1].removesuffix(IN_THREAD), row[2]) for row in rows]

    async def list_reasons(self, answers: Collection[str]) -> list[tuple[str, str]]:
        """The reasons and comments to these answers that were given in forms, without who gave them."""
        sql = (
            "SELECT reason, comment FROM feedback WHERE answer IN (SELECT value FROM @list(?)) AND NOT up"
            " AND (reason <> '' OR comment <> '') AND reason NOT LIKE ? ORDER BY answer, person"
        )
        rows = await self._database.fetch_all(sql, (text_list(sorted(answers)), f"%{IN_THREAD}"))
        return [(row[0], row[1]) for row in rows]

    async def count(self, platform: str, workspace: str, since: datetime) -> tuple[int, int]:
        """Numbers of positive and negative ratings of a workspace's answers since a time."""
        sql = (
            "SELECT COUNT(*) FILTER (WHERE up), COUNT(*) FILTER (WHERE NOT up) FROM answer JOIN feedback ON answer = id"
            " WHERE time >= ? AND platform = ? AND workspace = ?"
        )
        [(up, down)] = await self._database.fetch_all(sql, (to_micros(since), platform, workspace))
        return up, down


class OneTimeHints:
    """Hints that a workspace is shown only once."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def record_if_new(self, platform: str, workspace: str, name: str) -> bool:
        """Record a hint as shown; False if it was shown before."""
        sql = "INSERT INTO shown_hint VALUES (?, ?, ?) ON CONFLICT DO NOTHING RETURNING name"
        return bool(await self._database.execute(sql, (platform, workspace, name)))

    async def record_if_due(self, platform: str, workspace: str, name: str, day: date) -> bool:
        """Record a hint as shown on a day; False if it was shown on that day before. Forgets other days."""
        dated = f"{name} {day:%Y-%m-%d}"
        sql = (
            "DELETE FROM shown_hint WHERE platform = ?1 AND workspace = ?2"
            " AND substr(name, 1, length(?3)) = ?3 AND name <> ?4"
        )
        await self._database.execute(sql, (platform, workspace, f"{name} ", dated))
        return await self.record_if_new(platform, workspace, dated)

    async def list_named(self, platform: str, start: str) -> list[tuple[str, str]]:
        """The workspaces and names of the recorded hints whose names begin so."""
        sql = (
            "SELECT workspace, name FROM shown_hint WHERE platform = ?1 AND substr(name, 1, length(?2)) = ?2"
            " ORDER BY workspace, name"
        )
        return [(row[0], row[1]) for row in await self._database.fetch_all(sql, (platform, start))]

    async def delete(self, platform: str, workspace: str, name: str) -> None:
        """Allow a hint to be shown again."""
        sql = "DELETE FROM shown_hint WHERE platform = ? AND workspace = ? AND name = ?"
        await self._database.execute(sql, (platform, workspace, name))


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Tokens, cost (US dollars), answers (in the chat, to programs and at the terminal) and votes of a day."""

    day: str
    tokens: int = 0
    cost: float = 0.0
    answers: int = 0
    votes_up: int = 0
    votes_down: int = 0


class DailyUsage:
    """Tokens and cost per workspace and day."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, place: tuple[str, str], day: str, tokens: int, cost: float = 0.0, answers: int = 0) -> None:
        """Add to a day (as 2026-11-20) of a platform and workspace; `answers` are those of which no row is stored."""
        sql = (
            "INSERT INTO daily_usage (platform, workspace, day, tokens, cost, answers) VALUES (?, ?, ?, ?, ?, ?)"
            " ON CONFLICT (platform, workspace, day) DO UPDATE SET tokens = daily_usage.tokens + excluded.tokens,"
            " cost = daily_usage.cost + excluded.cost, answers = daily_usage.answers + excluded.answers"
        )
        await self._database.execute(sql, (*place, day, tokens, cost, answers))

    async def get_tokens(self, platform: str, workspace: str, day: str) -> int:
        """The tokens used on a day."""
        sql = "SELECT tokens FROM daily_usage WHERE platform = ? AND workspace = ? AND day = ?"
        row = await self._database.fetch_one(sql, (platform, workspace, day))
        return int(row[0]) if row else 0

    async def list_days(self, platform: str, workspace: str, since: datetime) -> list[UsageRow]:
        """The days since a time (the start of a day) on which anything was used or answered, the oldest first."""
        where = (platform, workspace)
        used = await self._database.fetch_all(
            "SELECT day, tokens, cost, answers FROM daily_usage WHERE platform = ? AND workspace = ? AND day >= ?",
            (*where, since.date().isoformat()),
        )
        of_answers = "platform = ? AND workspace = ? AND time >= ? AND state = 'done'"
        answered = await self._database.fetch_all(
            f"SELECT time / {DAY_MICROS} AS day, COUNT(*) FROM answer WHERE {of_answers} GROUP BY 1",
            (*where, to_micros(since)),
        )
        voted = await self._database.fetch_all(
            f"SELECT time / {DAY_MICROS} AS day, COUNT(*) FILTER (WHERE up), COUNT(*) FILTER (WHERE NOT up)"
            f" FROM answer JOIN feedback ON answer = id WHERE {of_answers} GROUP BY 1",
            (*where, to_micros(since)),
        )
        days = {day: UsageRow(day, int(tokens), float(cost), int(answers)) for day, tokens, cost, answers in used}
        for number, count in answered:
            row = days.get(_to_day(number), UsageRow(_to_day(number)))
            days[row.day] = replace(row, answers=row.answers + count)
        for number, up, down in voted:
            day = _to_day(number)
            days[day] = replace(days.get(day, UsageRow(day)), votes_up=up, votes_down=down)
        return [days[day] for day in sorted(days)]


def _to_day(number: int) -> str:
    """The day with this number since 1970."""
    found = from_micros(number * DAY_MICROS)
    return found.date().isoformat() if found else ""
