"""The page of documents lists, adds and forgets what belongs to its visitor, and shows markup as text."""

from __future__ import annotations

import json

import httpx
import pytest

from adapters.web.pages.documents import find_last_page
from tests.adapters.web.conftest import HERE, SECRET, VAULT, Api
from tests.adapters.web.pages.test_pages import OWN

HOSTILE = "<script>alert(1)</script>{{7*7}}.txt"


@pytest.fixture
def browser(api: Api) -> httpx.AsyncClient:
    """A browser with Ada's login."""
    api.client.cookies.set("__Host-threadlore", api.token)
    api.client.headers.update(OWN)
    return api.client


async def upload(browser: httpx.AsyncClient, name: str, data: bytes) -> httpx.Response:
    headers = {"Accept": "application/x-ndjson"}
    return await browser.post("/documents/upload", files={"file": (name, data)}, headers=headers)


async def test_a_file_is_uploaded_listed_read_and_forgotten(browser: httpx.AsyncClient) -> None:
    added = await upload(browser, "tiles.txt", b"The tiles come on Monday.")
    *steps, end = map(json.loads, added.text.splitlines())
    assert ({step["type"] for step in steps}, end["changed"]) == ({"progress"}, True)
    key = end["documents"][0]["key"]
    page = (await browser.get("/documents")).text
    assert page.index("<html") < page.index("tiles.txt")
    part = (await browser.get("/documents/list?search=TILES")).text
    assert ("tiles.txt" in part, "<html" in part, ">Note<" in part) == (True, False, False)
    assert "Nothing matches" in (await browser.get("/documents?search=unheard")).text
    assert "The tiles come on Monday." in (await browser.get("/documents/item", params={"key": key})).text
    readers = (await browser.get("/documents/readers", params={"key": key})).text
    assert "Whoever uses the space" in readers or "Only you can find this" in readers
    rehearsal = (await browser.get("/documents/forget", params={"key": key, "title": "tiles.txt"})).text
    assert "Forget “tiles.txt”?" in rehearsal
    assert "This would forget 1 document" in rehearsal
    left = (await browser.post("/documents/forget", data={"key": key, "title": "tiles.txt"})).text
    assert "“tiles.txt” is forgotten." in left
    assert "tiles.txt" not in (await browser.get("/documents/list")).text


@pytest.mark.long
async def test_names_and_texts_are_shown_as_text(browser: httpx.AsyncClient) -> None:
    await upload(browser, HOSTILE, b"<img src=x onerror=alert(1)> {{7*7}}")
    key = "upload:script>{{7*7}}.txt"  # the last part of the name
    for path in ("/documents", f"/documents/item?key={key}"):
        page = (await browser.get(path)).text
        assert "{{7*7}}" in page
        assert "<script>alert" not in page
        assert "<img" not in page


async def test_what_cannot_be_read_is_not_there(browser: httpx.AsyncClient) -> None:
    key = f"note:{VAULT}"
    for page in (
        await browser.get("/documents"),
        await browser.get("/documents/item", params={"key": key}),
        await browser.post("/documents/forget", data={"key": key}, headers={"HX-Request": "true"}),
    ):
        assert SECRET not in page.text
    assert [page.status_code, (await browser.get("/documents/item", params={"key": key})).status_code] == [404, 404]


async def test_a_reader_sees_no_upload_and_forgets_nothing(api: Api, browser: httpx.AsyncClient) -> None:
    browser.cookies.set("__Host-threadlore", await api.create_token("read"))
    page = (await browser.get("/documents")).text
    assert ("Note" in page, 'id="upload"' in page, "/documents/forget" in page) == (True, False, False)
    assert (await upload(browser, "a.txt", b"x")).status_code == 403
    assert (await browser.post("/documents/forget", data={"key": f"note:{HERE}"})).status_code == 403


@pytest.mark.long
async def test_a_page_beyond_the_end_is_the_last_one(browser: httpx.AsyncClient) -> None:
    await upload(browser, "tiles.txt", b"The tiles come on Monday.")
    for address in ("/documents?offset=4000", "/documents/list?offset=20", "/documents?search=tiles&offset=20"):
        page = (await browser.get(address)).text
        assert ("tiles.txt" in page, "Nothing matches" in page) == (True, False), address
    assert "Nothing matches" in (await browser.get("/documents?search=unheard&offset=20")).text
    page = (await browser.get("/documents/item", params={"key": f"note:{HERE}", "offset": "500"})).text
    assert 'class="passage-item' in page
    assert [find_last_page(total, 20) for total in (0, 1, 20, 21, 40, 41)] == [0, 0, 0, 20, 20, 40]


async def test_another_site_uploads_nothing(browser: httpx.AsyncClient) -> None:
    foreign = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
    refused = await browser.post("/documents/upload", files={"file": ("a.txt", b"x")}, headers=foreign)
    assert refused.status_code == 403
    assert "a.txt" not in (await browser.get("/documents")).text


@pytest.mark.long
async def test_a_broken_file_is_a_problem_for_the_script(browser: httpx.AsyncClient) -> None:
    refused = await upload(browser, "broken.pdf", b"%PDF-1.7 nonsense")
    assert (refused.status_code, refused.json()["status"]) == (422, 422)
