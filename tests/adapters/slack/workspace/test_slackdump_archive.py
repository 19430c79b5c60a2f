"""What slackdump stores is read like an export, whether it is a database or recorded replies of Slack."""

from __future__ import annotations

import gzip
import json
import sqlite3
import zipfile
import zlib
from pathlib import Path
from typing import Any

import pytest

from adapters.slack.export import SlackExport, open_export
from bot.platform.export_readers import ExportOptions
from bot.platform.models import Upload
from engine.errors import CorruptFile, InvalidDocument
from tests.support.clock import ManualClock
from tests.support.exports import slack_message, slack_user, ts_at, write_files

ROOF, DIRECT = "C0ABCDEF1", "D0ABCDEF2"
CHANNELS: list[dict[str, Any]] = [
    {"id": ROOF, "name": "roof"},
    {"id": "G0ABCDEF3", "name": "board", "is_private": True},
]
ROOT = slack_message("U1", 0, "Who lays the slates?", thread_ts=ts_at(0))
EDITED = ROOT | {"text": "Who lays the zinc?"}
REPLY = slack_message("U2", 1, "Mina.", thread_ts=ts_at(0))
LATER = slack_message("U2", 2, "On Friday.")
BOARD, PRIVATE = slack_message("U1", 3, "The budget."), slack_message("U1", 4, "Between us.")
TABLES = """
CREATE TABLE MESSAGE (ID INTEGER, CHUNK_ID INTEGER, CHANNEL_ID TEXT, TS TEXT, DATA BLOB, PRIMARY KEY (ID, CHUNK_ID));
CREATE TABLE CHANNEL (ID TEXT, CHUNK_ID INTEGER, NAME TEXT, DATA BLOB, PRIMARY KEY (ID, CHUNK_ID));
CREATE TABLE S_USER (ID TEXT, CHUNK_ID INTEGER, USERNAME TEXT, DATA BLOB, PRIMARY KEY (ID, CHUNK_ID));
"""


def write_database(folder: Path, **more: Any) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    connection = sqlite3.connect(folder / "slackdump.sqlite")
    connection.executescript(TABLES)
    for user in (slack_user("U1", "Ada"), slack_user("U2", "Bela")):
        connection.execute("INSERT INTO S_USER VALUES (?, 1, ?, ?)", (user["id"], user["name"], json.dumps(user)))
    for each in CHANNELS:
        connection.execute("INSERT INTO CHANNEL VALUES (?, 2, ?, ?)", (each["id"], each["name"], json.dumps(each)))
    rows = [(3, ROOF, LATER), (3, ROOF, ROOT), (4, ROOF, REPLY), (5, ROOF, EDITED)]
    for chunk, channel, row in [*rows, (6, "G0ABCDEF3", BOARD), (7, DIRECT, PRIVATE)]:
        packer = zlib.compressobj(wbits=-zlib.MAX_WBITS)
        data = packer.compress(json.dumps(row).encode()) + packer.flush() if chunk == 4 else json.dumps(row).encode()
        entry = (int(row["ts"].replace(".", "")), chunk, channel, row["ts"], data)
        connection.execute("INSERT INTO MESSAGE VALUES (?, ?, ?, ?, ?)", entry)
    connection.commit()
    connection.close()
    write_files(folder, more)
    return folder


def write_recordings(folder: Path) -> Path:
    replies: dict[str, list[Any]] = {
        "users": [{"t": 3, "u": [slack_user("U1", "Ada"), slack_user("U2", "Bela")]}],
        "channels": [{"t": 4, "ch": CHANNELS}],
        ROOF: [
            {"t": 5, "id": ROOF, "ci": CHANNELS[0]},
            {"t": 0, "id": ROOF, "m": [LATER, ROOT]},
            {"t": 1, "id": ROOF, "r": ROOT["ts"], "p": EDITED, "m": [REPLY]},
        ],
        "G0ABCDEF3": [{"t": 0, "id": "G0ABCDEF3", "m": [BOARD]}],
        DIRECT: [{"t": 0, "id": DIRECT, "m": [PRIVATE]}],
    }
    files = {
        f"{name}.json.gz": gzip.compress("\n".join(map(json.dumps, rows)).encode()) for name, rows in replies.items()
    }
    return write_files(folder, files)


def open_at(path: Path, **options: Any) -> SlackExport:
    return open_export(path, ExportOptions(**options), clock=ManualClock())


def read(source: SlackExport) -> dict[str, list[str]]:
    return {
        channel.name: [message.text for page in source.read_pages(channel.location) for message in page]
        for channel in source.list_channels()
    }


@pytest.mark.parametrize("write", [write_database, write_recordings])
def test_each_message_is_read_once_as_it_was_last(tmp_path: Path, write: Any) -> None:
    source = open_at(write(tmp_path / "archive"))
    assert read(source) == {"roof": ["Who lays the zinc?", "Mina.", "On Friday."], "board": ["The budget."]}
    assert {channel.name: channel.kind for channel in source.list_channels()} == {"roof": "open", "board": "closed"}
    left_out = {kind: count for kind, count in source.omissions.items() if count}
    assert left_out == {"direct messages (--direct-messages includes them)": 1}
    person = source.get_person("U1")
    assert person is not None
    assert person.name == "Ada"
    source.close()


def test_direct_messages_are_read_on_request(tmp_path: Path) -> None:
    source = open_at(write_database(tmp_path / "archive"), direct_messages=True)
    assert read(source)[DIRECT] == ["Between us."]


async def test_files_lie_beside_the_database(tmp_path: Path) -> None:
    path = write_database(tmp_path / "archive", **{"__uploads/F0ABCDEF1/a.txt": b"Copper."})
    found = await open_at(path).fetch_file(Upload("F0ABCDEF1", "a.txt", 7, "text/plain", ""), 100)
    assert found == b"Copper."


@pytest.mark.parametrize(("name", "data"), [("slackdump.sqlite", b"SQLite"), ("C0ABCDEF1.json.gz", b"\x1f\x8bx")])
def test_a_damaged_archive_is_refused(tmp_path: Path, name: str, data: bytes) -> None:
    with pytest.raises(CorruptFile):
        read(open_at(write_files(tmp_path / "archive", {name: data}), workspace="T1"))


def test_another_database_is_refused(tmp_path: Path) -> None:
    folder = write_files(tmp_path / "archive", {})
    folder.mkdir(exist_ok=True)
    sqlite3.connect(folder / "slackdump.sqlite").execute("CREATE VIEW message AS SELECT 1").connection.close()
    with pytest.raises(InvalidDocument, match="no archive"):
        open_at(folder)


def test_a_database_within_an_archive_is_refused_in_words(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "archive.zip", "w") as archive:
        archive.writestr("slackdump.sqlite", b"SQLite")
    with pytest.raises(InvalidDocument) as caught:
        open_at(tmp_path / "archive.zip")
    assert "ZIP" in caught.value.hint
