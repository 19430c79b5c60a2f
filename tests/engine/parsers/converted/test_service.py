"""Files converted by loopback servers that answer as docling-serve and MinerU do."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from aiohttp import web

from engine import FileParser, ParserLimits
from engine.models import ConvertedDocument
from engine.parsers.converted.pages import NOT_DECODED, PICTURE
from engine.parsers.converted.replies import PAGE_BREAK, read_mineru
from engine.parsers.converted.service import ParserService, ParserServiceConfig
from tests.engine.parsers.test_pdf_objects import form_pdf
from tests.support.loopback import Handler, listening

MARKDOWN = "# Kiln plan\n\n| Kiln | Bricks |\n|---|---|\n| North | $x^2$ |\n"
FORM = b"name,bricks\nNorth,310\n"
DOCLING = {"document": {"filename": "a.csv", "md_content": MARKDOWN}, "status": "success", "errors": []}
MINERU = {"backend": "pipeline", "version": "2.5", "results": {"a": {"md_content": MARKDOWN}}}
BLOCKS = [
    {"type": "text", "text": "Kiln plan", "text_level": 1, "page_idx": 0},
    {"type": "page_number", "text": "1", "page_idx": 0},
    {"type": "image", "img_path": "a.jpg", "image_caption": [], "page_idx": 1},
    {
        "type": "table",
        "table_caption": ["Bricks"],
        "table_body": "<table><tr><td>Kiln</td><td>Fee</td></tr><tr><td>North</td><td>4</td></tr></table>",
        "page_idx": 2,
    },
    {"type": "equation", "text": "$$x^2$$", "text_format": "latex", "page_idx": 2},
    {"type": "list", "list_items": ["Clay", "Ash"], "page_idx": 2},
]


@asynccontextmanager
async def serve(path: str, handler: Handler, *, method: str = "POST") -> AsyncIterator[str]:
    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        assert (request.method, request.path) == (method, path)
        return await handler(request)

    async with listening(handle) as port:
        yield f"http://127.0.0.1:{port}"


def answer(body: object, *, status: int = 200) -> Handler:
    async def respond(request: web.BaseRequest) -> web.StreamResponse:
        form = await request.post()
        file = form["files"]
        assert isinstance(file, web.FileField)
        assert file.file.read() == FORM
        assert request.headers.get("X-Api-Key") == "a-key"
        return web.json_response(body, status=status)

    return respond


def open_service(kind: str, url: str, seconds: float = 5.0) -> ParserService:
    return ParserService(ParserServiceConfig(kind, url, frozenset({"csv"}), seconds, "a-key"))


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("kind", "path", "body"), [("docling", "/v1/convert/file", DOCLING), ("mineru", "/file_parse", MINERU)]
)
async def test_a_service_returns_markdown(kind: str, path: str, body: object) -> None:
    async with serve(path, answer(body)) as url:
        assert await open_service(kind, url).convert("a.csv", FORM) == ConvertedDocument(MARKDOWN)


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("body", "status", "problem"),
    [
        ({"status": "failure", "errors": [{"error_message": "no model"}]}, 200, "no model"),
        ({"status": "success", "document": {"md_content": ""}}, 200, "no text"),
        ({"detail": "busy"}, 503, "failed"),
        ([], 200, "failed"),
    ],
)
async def test_what_a_service_cannot_convert_is_a_problem_in_words(body: object, status: int, problem: str) -> None:
    async with serve("/v1/convert/file", answer(body, status=status)) as url:
        converted = await open_service("docling", url).convert("a.csv", FORM)
    assert not converted.markdown
    assert problem in converted.problem


@pytest.mark.asyncio
async def test_what_a_partial_answer_lacks_is_named() -> None:
    body = {**DOCLING, "status": "partial_success", "errors": [{"error_message": "page 3 timed out"}]}
    async with serve("/v1/convert/file", answer(body)) as url:
        converted = await open_service("docling", url).convert("a.csv", FORM)
    assert converted == ConvertedDocument(MARKDOWN, "page 3 timed out")


@pytest.mark.asyncio
async def test_a_silent_service_is_not_waited_for() -> None:
    async def wait(_: web.BaseRequest) -> web.StreamResponse:
        await asyncio.Event().wait()
        raise AssertionError

    async with serve("/v1/convert/file", wait) as url:
        converted = await open_service("docling", url, 0.2).convert("a.csv", FORM)
    assert "longer than" in converted.problem


@pytest.mark.asyncio
async def test_a_file_is_read_from_what_the_service_makes_of_it_or_here() -> None:
    async with serve("/v1/convert/file", answer(DOCLING)) as url:
        service = open_service("docling", url)
        async with FileParser(ParserLimits(workers=1), converter=service) as parser:
            converted = await parser.parse("a.csv", FORM)
            other = await parser.parse("a.txt", FORM)
            service = open_service("docling", "http://127.0.0.1:9")
            parser._converter = service
            own = await parser.parse("a.csv", FORM)
    assert converted.passages[0].text == "Kiln plan\n\nKiln | Bricks\n--- | ---\nNorth | $x^2$"
    assert (converted.passages[0].label, converted.omissions) == ("Kiln plan", ())
    assert (other.passages[0].text, other.omissions) == (FORM.decode().strip(), ())
    assert own.passages[0].text.startswith("name | bricks")
    assert [omission.part for omission in own.omissions] == ["parser service"]


PAGED = (
    f"# Kiln plan\n\nClay.\n\n{PAGE_BREAK}\n\n<!-- image -->\n\n{PAGE_BREAK}\n\n<!-- formula-not-decoded -->\n\nAsh.\n"
)


@pytest.mark.long
@pytest.mark.asyncio
async def test_citations_lead_to_pages_and_forms_are_read_here() -> None:
    body = {**DOCLING, "document": {"md_content": PAGED}}

    async def respond(request: web.BaseRequest) -> web.StreamResponse:
        assert (await request.post())["md_page_break_placeholder"] == PAGE_BREAK
        return web.json_response(body)

    async with serve("/v1/convert/file", respond) as url:
        config = ParserServiceConfig("docling", url, frozenset({"pdf"}), 5.0)
        async with FileParser(ParserLimits(workers=1), converter=ParserService(config)) as parser:
            found = await parser.parse("plan.pdf", form_pdf())
    labels = {passage.label: passage.text for passage in found.passages}
    assert (labels["p. 1"], labels["p. 3"]) == ("Kiln plan\n\nClay.", "Ash.")
    assert any(label.startswith("p. 1, ") and "Gull" in text for label, text in labels.items())
    assert [(omission.part, omission.reason) for omission in found.omissions][:2] == [
        ("page 2", "it holds a picture"),
        ("page 3, formula 1", NOT_DECODED),
    ]
    assert (found.title, found.coverage) == ("Kiln plan", "2 of 3 pages")


@pytest.mark.parametrize("blocks", [BLOCKS, json.dumps(BLOCKS)])
def test_blocks_of_mineru_are_pages(blocks: object) -> None:
    converted = read_mineru({"results": {"a": {"md_content": MARKDOWN, "content_list": blocks}}})
    assert len(converted.pages) == 3
    assert converted.pages[:2] == ("# Kiln plan", PICTURE)
    assert converted.pages[2].startswith("Bricks\n\n<table>")
    assert converted.pages[2].endswith("$$x^2$$\n\n- Clay\n- Ash")


@pytest.mark.parametrize("blocks", [None, "{", [{"type": "text", "text": "x", "page_idx": "0"}], [{"page_idx": 0}]])
def test_blocks_without_pages_are_left_out(blocks: object) -> None:
    reply = {"results": {"a": {"md_content": MARKDOWN, "content_list": blocks}}}
    assert read_mineru(reply) == ConvertedDocument(MARKDOWN)


@pytest.mark.asyncio
async def test_a_service_is_known_by_its_paths() -> None:
    async def describe(_: web.BaseRequest) -> web.StreamResponse:
        return web.json_response({"paths": {"/file_parse": {}}})

    async with serve("/openapi.json", describe, method="GET") as url:
        assert await open_service("mineru", url).check() == ""
        assert "no /v1/convert/file" in await open_service("docling", url).check()
    assert "does not answer" in await open_service("docling", "http://127.0.0.1:9").check()
