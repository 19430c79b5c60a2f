"""The search: passages with the words, filtered and by page, of what the visitor reads and of nothing else."""

from __future__ import annotations

import re
from html import unescape

import pytest

from adapters.web.pages.asking.search import NOT_ALL
from bot.capabilities.asking import search as search_module
from bot.platform.models import Person
from bot.store import Subject
from engine import DocumentInfo, Scope
from engine.models import Document, Passage
from engine.parts.documents import EngineDocuments
from engine.retrieval import overview
from tests.adapters.web.pages.asking.conftest import Visitors
from tests.support.builders import ROOF
from tests.support.fake_platform import START

PAGES = (
    Passage("1", "The ferry Barbel leaves from pier two.", label="Timetable"),
    Passage("2", "A ticket costs three crowns.", label="Fares"),
)


@pytest.fixture
async def town(visitors: Visitors) -> Visitors:
    """A file in the open channel, and a message in the closed one, which Dan reads."""
    document = Document(f"{ROOF.room}:file:f:1", "slack:T1:open", ROOF.room, "timetable.md", PAGES, START)
    await visitors.bot.engine.documents.add(document)
    await visitors.bot.post_indexed(visitors.attic, "dan", "The ferry Zander is sold to Perla.")
    visitors.bot.platform.people["mina"] = Person("mina", "Mina")
    await visitors.bot.post_indexed(ROOF, "mina", "The mill grinds at night.")
    visitors.become("bob")
    return visitors


async def search(visitors: Visitors, query: str) -> list[str]:
    """The excerpts that are found, with their matches in brackets."""
    page = (await visitors.client.get(f"/search?{query}")).text
    found = re.findall(r'<p class="hit-text">(.*?)</p>', page, re.DOTALL)
    return [unescape(re.sub(r"</?mark>", "|", each)) for each in found]


async def test_words_are_found_in_their_forms_and_marked(town: Visitors) -> None:
    barbel, gudgeon = "The |ferry| Barbel |leaves| from pier two.", "The |ferry| Gudgeon |leaves| at noon."
    assert sorted(await search(town, "q=ferries+leaving")) == [barbel, gudgeon]
    assert await search(town, "q=%22at+noon%22") == ["The ferry Gudgeon leaves at |noon|."]


@pytest.mark.share(4)
@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("q=ferry&kind=file", ["Barbel"]),
        ("q=ferry&kind=conversation", ["Gudgeon"]),
        ("q=ferry+has:file", ["Barbel"]),
        ("q=ferry&file=TIMETABLE", ["Barbel"]),
        ("q=ferry&file=nowhere", []),
        ("q=ferry&as_of=2026-11-19", []),
        ("q=ferry&as_of=2026-11-20", ["Barbel", "Gudgeon"]),
        ("q=ferry&person=Cleo", ["Gudgeon"]),
        ("q=ferry&channel=roof", ["Gudgeon", "Barbel"]),
        ("q=ferry&channel=elsewhere", []),
        ("q=ferry&since=2027-01-01", []),
        ("q=ferry&since=2026-11-20&until=2026-11-20&kind=conversation", ["Gudgeon"]),
        ("q=ferry+before:2026-01-01", []),
        ("q=ferry+has:file&kind=conversation", []),
        ("q=ferry+has:file&kind=file", ["Barbel"]),
        ("q=ferry+in:%23elsewhere&channel=roof", []),
        ("q=ferry+in:%23roof&channel=elsewhere", []),
        ("q=ferry+in:%23roof&channel=roof", ["Gudgeon", "Barbel"]),
        ("q=ferry+from:@cleo&person=Cleo", ["Gudgeon"]),
        ("q=ferry+from:@mina&person=Cleo", []),
        ("q=ferry+after:2026-11-01&since=2027", []),
        ("q=ferry+after:2027&since=2026-11-01", []),
        ("q=ferry+before:2026-12-01&until=2026-01-01", []),
        ("kind=file", []),
        ("channel=roof&kind=conversation", ["Gudgeon", "mill"]),
        ("file=timetable", ["Barbel", "ticket"]),
    ],
)
async def test_filters_narrow_it(town: Visitors, query: str, found: list[str]) -> None:
    shown = await search(town, query)
    if query == "kind=file":
        assert len(shown) == 2
        return
    assert len(shown) == len(found)
    assert all(any(word in each for each in shown) for word in found)


async def test_it_leads_to_the_message_and_to_the_page_of_the_file(town: Visitors) -> None:
    page = (await town.client.get("/search?q=noon")).text
    assert "Open the message" in page
    page = (await town.client.get("/search?q=crowns")).text
    [address] = {unescape(each) for each in re.findall(r'href="(/documents/item\?[^"]+)"', page)}
    place = (await town.client.get(address)).text
    assert re.findall(r"data-sought>.*?passage-text\">([^<]+)<", place, re.DOTALL) == ["A ticket costs three crowns."]
    assert "data-sought" not in (await town.client.get(f"{address}x")).text


async def test_documents_are_listed_only_to_find_a_file(town: Visitors, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = list[Scope]()

    async def list_documents(documents: EngineDocuments, scope: Scope) -> list[DocumentInfo]:
        listed.append(scope)
        return await list_all(documents, scope)

    list_all = EngineDocuments.list
    monkeypatch.setattr(EngineDocuments, "list", list_documents)
    page = (await town.client.get("/search?q=ferry")).text
    assert ("Open the message" in page, "/documents/item" in page, listed) == (True, True, [])
    await search(town, "q=ferry&file=timetable")
    assert len(listed) == 1


@pytest.mark.long
async def test_results_come_by_page(town: Visitors) -> None:
    passages = tuple(Passage(str(number), f"Buoy {number} is green.") for number in range(45))
    await town.bot.engine.documents.add(Document("buoys", "slack:T1:open", ROOF.room, "buoys.md", passages, START))
    await town.bot.engine.wait_until_indexed()
    pages = [await search(town, f"q=buoy&offset={offset}") for offset in (0, 20, 40, 60)]
    assert [len(page) for page in pages] == [20, 20, 5, 0]
    assert len({text for page in pages for text in page}) == 45
    beyond = (await town.client.get("/search?q=buoy&offset=60")).text
    assert '<a href="/search?q=buoy">Show the first ones</a>' in beyond
    first = (await town.client.get("/search?q=buoy")).text
    assert ("1–20 of 45 passages" in first, "q=buoy&amp;offset=20" in first) == (True, True)


@pytest.mark.long
async def test_the_size_of_a_prompt_does_not_limit_it(town: Visitors) -> None:
    long = " ".join(f"word{number}" for number in range(150))
    passages = tuple(Passage(str(number), f"Beacon {number} {long} {number}.") for number in range(60))
    await town.bot.engine.documents.add(Document("beacons", "slack:T1:open", ROOF.room, "beacons.md", passages, START))
    await town.bot.engine.wait_until_indexed()
    assert "1–20 of 60 passages" in (await town.client.get("/search?q=beacon")).text


async def test_a_total_that_is_not_known_is_a_minimum(town: Visitors, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(overview, "MAX_OVERVIEW_CHUNKS", 1)
    monkeypatch.setattr(search_module, "MAX_CHUNKS", 1)
    for query in ("q=ferry", "channel=roof"):
        page = (await town.client.get(f"/search?{query}")).text
        assert ("of at least " in page, unescape(NOT_ALL) in page) == (True, True), query


async def test_nobody_finds_or_is_offered_what_they_cannot_read(town: Visitors) -> None:
    for query in ("q=Zander", "q=ferry&channel=attic", "q=sold+to+Perla", "channel=attic", "q=ferry"):
        assert [each for each in await search(town, query) if "Perla" in each] == [], query
    assert '<option value="attic">' not in (await town.client.get("/search")).text
    town.become("dan")
    assert await search(town, "q=Zander") == ["The ferry |Zander| is sold to Perla."]
    assert '<option value="attic">' in (await town.client.get("/search")).text


async def test_whoever_only_reads_sees_what_is_stored_about_them_too(town: Visitors) -> None:
    await town.become_subject(Subject("slack", "T1", "bob"), ("read",))
    page = (await town.client.get("/documents")).text
    assert ("/documents/my-data" in page, "/documents/forget-me" in page) == (True, False)
    assert (await town.client.get("/documents/my-data")).status_code == 200


async def test_a_wrong_value_is_said_and_html_is_text(town: Visitors) -> None:
    page = (await town.client.get("/search?q=ferry&since=someday")).text
    assert "is not a value of" in page
    for words, hint in (("from:<@U1>", "from:@name"), ("in:<%23C1>", "in:#name"), ("from:@Nobody", "shown above")):
        assert hint in (await town.client.get(f"/search?q=ferry+{words}")).text, words
    page = (await town.client.get("/search?q=%3Cscript%3Ealert(1)%3C/script%3E")).text
    assert "<script>alert" not in page
    assert (await town.client.get("/search?kind=wild")).status_code == 422
