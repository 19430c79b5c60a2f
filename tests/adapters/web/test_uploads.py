"""Files come over the API piece by piece; broken, hostile and endless ones leave nothing behind."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx
import pytest

from adapters.web import security, uploads
from adapters.web.app import build_app
from adapters.web.problems import describe
from adapters.web.security import RequestLimits
from bot.capabilities.documents.requests import AddUpload, PrepareUpload, UploadPlace
from bot.capabilities.requests import Authorized, OperationRequest
from bot.capabilities.results import OperationResult, ProgressUpdate
from bot.errors import TooManyRequests
from bot.listeners.admission import Budget
from engine import ParserLimits
from engine.clock import SYSTEM_CLOCK
from engine.errors import DiskFull
from engine.scheduling.supervisor import child_task
from tests.adapters.web.conftest import Api
from tests.engine.parsers.samples import bomb

TILES = b"The tiles come on Monday, says Ada."
TYPE = {"Content-Type": "multipart/form-data; boundary=x"}
HEAD = b'--x\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'


async def upload(api: Api, name: str, data: bytes, accept: str = "*/*", token: str | None = None) -> httpx.Response:
    headers = {"Authorization": f"Bearer {api.token if token is None else token}", "Accept": accept}
    return await api.client.post("/api/v1/documents", files={"file": (name, data)}, headers=headers)


async def post(api: Api, body: bytes | AsyncIterator[bytes], **headers: str) -> httpx.Response:
    every = {"Authorization": f"Bearer {api.token}", **TYPE, **headers}
    return await api.client.post("/api/v1/documents", content=body, headers=every)


def left_behind(tmp_path: Path) -> list[str]:
    folder = tmp_path / "home" / "uploads"
    return [path.name for path in folder.iterdir()] if folder.is_dir() else []


@pytest.mark.long
async def test_an_upload_is_read_with_its_locators_and_forgotten_by_its_title(api: Api, tmp_path: Path) -> None:
    added = await upload(api, "dir/tiles.txt", TILES)
    assert (added.status_code, added.json()["changed"]) == (201, True)
    [document] = added.json()["documents"]
    assert (document["title"], document["error"]) == ("tiles.txt", "")
    assert document["status"] in {"searchable", "indexed"}
    again = await upload(api, "tiles.txt", TILES)
    assert (again.status_code, again.json()["changed"]) == (200, False)
    read = (await api.call("GET", f"/api/v1/documents/{document['key']}")).json()
    assert (read["total"], read["passages"][0]["text"]) == (1, TILES.decode())
    assert (await api.call("GET", f"/api/v1/documents/{document['key']}?offset=1")).json()["passages"] == []
    assert (await api.call("GET", "/api/v1/documents?search=TILE")).json()["total"] == 1
    assert (await api.call("GET", "/api/v1/documents?status=failed")).json()["total"] == 0
    assert (await api.call("DELETE", "/api/v1/documents/Tiles.txt")).status_code == 204
    assert (await api.call("GET", f"/api/v1/documents/{document['key']}")).status_code == 404
    assert left_behind(tmp_path) == []


@pytest.mark.long
async def test_a_title_of_two_documents_is_a_conflict(api: Api) -> None:
    assert (await upload(api, "Note", TILES)).status_code == 201
    assert (await api.call("DELETE", "/api/v1/documents/Note")).status_code == 409


@pytest.mark.parametrize("accept", ["application/x-ndjson", "text/event-stream"])
async def test_whoever_uploads_sees_each_step(api: Api, accept: str) -> None:
    response = await upload(api, "tiles.txt", TILES, accept)
    *steps, end = [json.loads(line.removeprefix("data: ")) for line in response.text.splitlines() if line]
    assert [step["stage"] for step in steps][:1] == ["parsing"]
    done = "indexing 1 of 1 document"
    assert steps[-1] == {"type": "progress", "stage": "indexing", "done": 1, "total": 1, "trouble": "", "text": done}
    assert (end["type"], end["changed"], end["documents"][0]["title"]) == ("end", True, "tiles.txt")


async def test_nobody_uploads_without_the_permission(api: Api, tmp_path: Path) -> None:
    reader = await api.create_token("ask", "read", "manage")
    assert [(await upload(api, "a.txt", TILES, token=each)).status_code for each in ("", reader)] == [401, 403]
    assert not (tmp_path / "home" / "uploads").exists()


@pytest.mark.long
@pytest.mark.parametrize(
    ("name", "data"),
    [("empty.txt", b""), ("bomb.docx", bomb(30_000_000)), ("program.exe", b"MZ\x00\x01" * 50), ("..", TILES)],
    ids=lambda each: each if isinstance(each, str) else "",
)
async def test_a_file_that_cannot_be_read_is_a_problem(api: Api, tmp_path: Path, name: str, data: bytes) -> None:
    response = await upload(api, name, data)
    assert response.status_code in {413, 422}
    assert response.json()["type"].startswith("urn:threadlore:")
    assert (await api.call("GET", "/api/v1/documents")).json()["total"] == 1
    assert left_behind(tmp_path) == []


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"nonsense",
        HEAD + TILES,
        HEAD.replace(b'name="file"', b'name="other"') + TILES + b"\r\n--x--\r\n",
        HEAD.replace(b'; filename="a.txt"', b"") + TILES + b"\r\n--x--\r\n",
        HEAD + TILES + b"\r\n" + HEAD + TILES + b"\r\n--x--\r\n",
        b"--x\r\n" + b"A: b\r\n" * 50,
    ],
    ids=["nothing", "noise", "no end", "other part", "no name", "two files", "headers"],
)
async def test_a_body_that_is_no_upload_is_a_problem(api: Api, tmp_path: Path, body: bytes) -> None:
    assert (await post(api, body)).status_code == 422
    assert left_behind(tmp_path) == []


async def test_a_body_of_another_type_is_a_problem(api: Api) -> None:
    for kind in ("application/json", "multipart/form-data", ""):
        assert (await post(api, b"{}", **{"Content-Type": kind})).status_code == 422


async def test_a_file_beyond_the_limit_is_refused_before_all_of_it_came(api: Api, tmp_path: Path) -> None:
    limit, sent = ParserLimits().max_file_size, 0

    async def pieces() -> AsyncIterator[bytes]:
        nonlocal sent
        yield HEAD
        for _ in range(3 * limit // 2**20):
            sent += 2**20
            yield b"x" * 2**20

    assert (await post(api, pieces())).status_code == 413
    assert sent <= limit + 2 * 2**20
    assert left_behind(tmp_path) == []
    preamble = HEAD.replace(b'name="file"', b'name="other"') + b"x" * (uploads.MAX_OVERHEAD_BYTES + 1)
    assert (await post(api, preamble)).status_code == 413
    api.app.state.uploads = uploads.UploadGate(Budget(0, 0))
    assert (await upload(api, "a.txt", TILES)).status_code == 429


async def test_one_token_does_not_take_all_places_of_uploads() -> None:
    gate = uploads.UploadGate()
    async with gate.enter("ada"), gate.enter("ada"):
        with pytest.raises(TooManyRequests):
            async with gate.enter("ada"):
                pass
        async with gate.enter("bob"):
            assert gate.running == 3
    assert gate.running == 0


@pytest.mark.long
async def test_two_uploads_at_once_are_two_documents(api: Api) -> None:
    both = await asyncio.gather(upload(api, "a.txt", TILES), upload(api, "b.txt", b"Bob has the ladder."))
    assert [result.status_code for result in both] == [201, 201]
    assert (await api.call("GET", "/api/v1/documents?search=.txt")).json()["total"] == 2


async def run_upload(api: Api, messages: Sequence[dict[str, Any]], read_seconds: float) -> list[int]:
    """Send these messages and then nothing; returns the status of the response, if there was any."""
    found, waiting = list[int](), iter(messages)

    async def receive() -> dict[str, Any]:
        if (message := next(waiting, None)) is None:
            await asyncio.Event().wait()
        assert message is not None
        return message

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            found.append(message["status"])

    headers = [(b"authorization", f"Bearer {api.token}".encode()), (b"content-type", TYPE["Content-Type"].encode())]
    scope = {"type": "http", "method": "POST", "path": "/api/v1/documents", "query_string": b"", "headers": headers}
    async with asyncio.timeout(60):
        await RequestLimits(api.app, read_seconds)(scope, receive, send)
    return found


async def test_an_upload_that_stops_is_not_waited_for(
    api: Api, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(security, "MIN_UPLOAD_RATE", 2**30)
    begun = {"type": "http.request", "body": HEAD + TILES, "more_body": True}
    assert await run_upload(api, [begun], read_seconds=0.5) == [408]
    assert left_behind(tmp_path) == []


class AwayService:
    """A service whose uploads wait for a model that is away."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.is_waiting = asyncio.Event()

    async def perform(self, request: OperationRequest) -> AsyncGenerator[OperationResult]:
        inner = request.request if isinstance(request, Authorized) else request
        if isinstance(inner, PrepareUpload):
            yield UploadPlace(str(self.folder), 1000)
        elif isinstance(inner, AddUpload):
            yield ProgressUpdate("indexing", 0, 1)
            self.is_waiting.set()
            await asyncio.Event().wait()


async def test_an_upload_that_waits_for_a_model_keeps_nobody_else_from_uploading(tmp_path: Path) -> None:
    service = AwayService(tmp_path)
    app = build_app(service, SYSTEM_CLOCK)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://testserver") as client:
        headers = {"Authorization": "Bearer x", **TYPE}
        sending = client.post("/api/v1/documents", content=HEAD + TILES + b"\r\n--x--\r\n", headers=headers)
        async with child_task(sending, "upload"):
            await asyncio.wait_for(service.is_waiting.wait(), 60)
            assert app.state.uploads.running == 0


async def test_an_upload_whose_client_leaves_adds_nothing(api: Api, tmp_path: Path) -> None:
    begun = {"type": "http.request", "body": HEAD + TILES, "more_body": True}
    await run_upload(api, [begun, {"type": "http.disconnect"}], read_seconds=600)
    assert left_behind(tmp_path) == []
    assert (await api.call("GET", "/api/v1/documents")).json()["total"] == 1


def test_a_full_disk_is_told_as_such(tmp_path: Path) -> None:
    with Path("/dev/full").open("wb", buffering=0) as file, pytest.raises(DiskFull, match="is full") as caught:
        uploads.write_all(file, tmp_path / "tiles", TILES)
    assert describe(caught.value).status == 507


@pytest.mark.long
async def test_an_upload_that_cannot_be_written_is_refused(api: Api, tmp_path: Path) -> None:
    await upload(api, "tiles.txt", TILES)
    folder = tmp_path / "home" / "uploads"
    folder.rmdir()
    folder.write_text("a file in its place")
    response = await upload(api, "tiles.txt", TILES)
    assert (response.status_code, response.headers["Referrer-Policy"]) == (507, "no-referrer")
    assert str(tmp_path) not in response.text
