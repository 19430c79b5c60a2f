"""Exports as Slack and DiscordChatExporter write them, with the oddities that their documents name."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

TEAM, URL = "T1", "https://town.slack.com/"
START = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

Row = dict[str, Any]


def ts_at(minutes: float) -> str:
    """The id of a Slack message so many minutes after the start."""
    return f"{(START + timedelta(minutes=minutes)).timestamp():.6f}"


def slack_message(user: str, minutes: float, text: str, **more: Any) -> Row:
    """A message of a day's file."""
    return {"type": "message", "user": user, "ts": ts_at(minutes), "text": text, "team": TEAM, **more}


def slack_user(id_: str, name: str, **more: Any) -> Row:
    profile = {"real_name": name, "display_name": name}
    return {"id": id_, "team_id": TEAM, "name": name.lower(), "profile": profile, **more}


@dataclass(slots=True)
class SlackExportFiles:
    """The files of a workspace export; `channels` by list (channels, groups, dms, mpims), `messages` by folder."""

    users: list[Row] = field(default_factory=lambda: [slack_user("U1", "Ada"), slack_user("U2", "Bela")])
    channels: dict[str, list[Row]] = field(default_factory=dict)
    messages: dict[str, list[Row]] = field(default_factory=dict)
    uploads: dict[str, bytes] = field(default_factory=dict)
    more: dict[str, Any] = field(default_factory=dict)

    def add_channel(self, kind: str, id_: str, name: str, messages: Iterable[Row], **more: Any) -> None:
        members = more.pop("members", ["U1", "U2"])
        named = {} if kind == "dms" else {"name": name}
        self.channels.setdefault(kind, []).append({"id": id_, **named, "members": members, **more})
        self.messages[id_ if kind == "dms" else name] = list(messages)

    def files(self) -> dict[str, bytes]:
        found: dict[str, Any] = {"users.json": self.users, "channels.json": [], **self.more}
        found |= {f"{kind}.json": rows for kind, rows in self.channels.items()}
        for folder, rows in self.messages.items():
            for row in sorted(rows, key=lambda each: str(each.get("ts"))):
                found.setdefault(f"{folder}/{_day(row)}.json", []).append(row)
        return {name: json.dumps(rows).encode() for name, rows in found.items()} | {
            f"__uploads/{name}": data for name, data in self.uploads.items()
        }

    def write_zip(self, path: Path, root: str = "") -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            for name, data in self.files().items():
                archive.writestr(root + name, data)
        return path

    def write_folder(self, path: Path) -> Path:
        return write_files(path, self.files())


def _day(row: Row) -> str:
    try:
        return f"{datetime.fromtimestamp(float(row['ts']), UTC):%Y-%m-%d}"
    except (KeyError, ValueError, TypeError):
        return f"{START:%Y-%m-%d}"


def write_files(path: Path, files: Mapping[str, bytes]) -> Path:
    for name, data in files.items():
        (path / name).parent.mkdir(parents=True, exist_ok=True)
        (path / name).write_bytes(data)
    return path


def discord_id(minutes: float) -> str:
    """A snowflake of a time so many minutes after the start."""
    milliseconds = int((START + timedelta(minutes=minutes)).timestamp() * 1000)
    return str((milliseconds - 1_420_070_400_000) << 22)


def discord_message(author: str, minutes: float, content: str, *, is_bot: bool = False, **more: Any) -> Row:
    person = {"id": author, "name": f"user{author}", "nickname": f"Nick {author}", "isBot": is_bot, "roles": []}
    return {
        "id": discord_id(minutes),
        "type": "Default",
        "timestamp": (START + timedelta(minutes=minutes)).isoformat(timespec="milliseconds"),
        "timestampEdited": None,
        "isPinned": False,
        "content": content,
        "author": person,
        "attachments": [],
        "embeds": [],
        "stickers": [],
        "reactions": [],
        "mentions": [],
        **more,
    }


def discord_file(channel: Mapping[str, Any], messages: Sequence[Row], guild: str = "77", **more: Any) -> bytes:
    found = {
        "guild": {"id": guild, "name": "Town", "iconUrl": ""},
        "channel": {"type": "GuildTextChat", "categoryId": "1", "category": "Town", "topic": None, **channel},
        "dateRange": {"after": None, "before": None},
        "exportedAt": (START + timedelta(days=30)).isoformat(),
        "messages": list(messages),
        "messageCount": len(messages),
        **more,
    }
    return json.dumps(found, indent=2).encode()


def ms_at(minutes: float) -> int:
    """Milliseconds since 1970, so many minutes after the start."""
    return int((START + timedelta(minutes=minutes)).timestamp() * 1000)


def mattermost_post(user: str, minutes: float, message: str, channel: str = "roof", **more: Any) -> Row:
    return {
        "team": "town",
        "channel": channel,
        "user": user,
        "type": "",
        "message": message,
        "props": {},
        "create_at": ms_at(minutes),
        "edit_at": 0,
        "reactions": [],
        "replies": [],
        "attachments": [],
        **more,
    }


def mattermost_reply(user: str, minutes: float, message: str, **more: Any) -> Row:
    row = mattermost_post(user, minutes, message, **more)
    return {key: value for key, value in row.items() if key not in {"team", "channel", "replies"}}


@dataclass(slots=True)
class MattermostExportFiles:
    """A bulk export with the channels roof (open) and vault (private) of one team; `files` by attachment path."""

    posts: list[Row] = field(default_factory=list)
    channels: list[Row] = field(
        default_factory=lambda: [
            {"team": "town", "name": "roof", "display_name": "Roof Works", "type": "O"},
            {"team": "town", "name": "vault", "display_name": "Vault", "type": "P"},
        ]
    )
    users: list[Row] = field(default_factory=lambda: [mattermost_user("ada", "Ada"), mattermost_user("bela", "Bela")])
    more: list[Row] = field(default_factory=list)
    files: dict[str, bytes] = field(default_factory=dict)

    def lines(self) -> bytes:
        rows: list[tuple[str, Any]] = [("version", 1), ("team", {"name": "town", "type": "O"})]
        rows += [("channel", channel) for channel in self.channels] + [("user", user) for user in self.users]
        rows += [("direct_post" if "channel_members" in post else "post", post) for post in self.posts]
        found = [{"type": kind, kind: row} for kind, row in rows] + self.more
        return b"".join(json.dumps(each).encode() + b"\n" for each in found)

    def write_zip(self, path: Path) -> Path:
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("import.jsonl", self.lines())
            for name, data in self.files.items():
                archive.writestr(f"data/{name}", data)
        return path


def mattermost_user(username: str, nickname: str = "", channels: Sequence[str] = ("roof", "vault"), **more: Any) -> Row:
    memberships = [{"name": channel, "roles": "channel_user"} for channel in channels]
    team = {"name": "town", "roles": "team_user", "channels": memberships}
    names = {"nickname": nickname, "first_name": "", "last_name": ""}
    return {"username": username, "email": f"{username}@example.org", **names, "teams": [team], **more}
