"""Every call of the pages, of the API and of MCP, with the secrets of a private channel that its readers find there."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import BaseRoute, Mount, Route

SECRETS = {
    "message": "quillon",
    "file": "halberd",
    "title": "partizan",
    "name": "zorvane",
    "answer": "voulge",
    "verified": "glaive",
    "question": "ranseur",
    "reason": "corseque",
    "correction": "spetum",
    "channel": "bardiche",
    "style": "guisarme",
    "upload": "fauchard",
}
SHARED_NAME = "Ada Mill"  # stands in a public channel, too
WHAT = "What is the password of the safe?"
NEITHER_PAGE_NOR_API = {"/api/v1/openapi.json", "/static", "/mcp"}
_ID = re.compile(r"<(\w+)>")


@dataclass(frozen=True, slots=True, eq=False)
class Call:
    """An address, and what is sent to it. `<name>` stands for an id that only readers of the channel know.

    `shows`: the secrets that they find in the response. `is_same`: whether it is the same each time.
    """

    address: str
    shows: str = ""
    body: Any = None
    form: Mapping[str, str] | None = None
    is_same: bool = True

    @property
    def ids(self) -> set[str]:
        """The names of the ids that are sent; the address of a resource contains the key of its file."""
        found = set(_ID.findall(json.dumps([self.address, self.body, self.form])))
        return found | {"file"} if "resource" in found else found

    def fill(self, ids: Mapping[str, str]) -> Call:
        """The call with these ids."""
        address = _ID.sub(lambda found: quote(ids[found[1]], safe=""), self.address)
        return replace(self, address=address, body=_fill(self.body, ids), form=_fill(self.form, ids))


def _fill(body: Any, ids: Mapping[str, str]) -> Any:
    return json.loads(_ID.sub(lambda found: json.dumps(ids[found[1]])[1:-1], json.dumps(body)))


ALL_TEXTS = "message file upload title channel"
DESCRIBE = {"action": "describe", "name": "<name>", "description": "A lie.", "space": "<space>"}

PAGE_CALLS: dict[str, list[Call]] = {
    "GET /": [Call("/")],
    "POST /ask": [
        Call("/ask", ALL_TEXTS, {"question": WHAT}, is_same=False),
        Call("/ask", body={"question": WHAT, "channels": ["<room>"]}, is_same=False),
    ],
    "POST /ask/rate": [Call("/ask/rate", form={"answer": "<answer>", "helpful": "true"}, is_same=False)],
    "GET /ask/actions": [Call("/ask/actions?answer=<answer>", is_same=False)],
    "POST /ask/verify": [Call("/ask/verify", form={"answer": "<answer>", "channel": "<room>"}, is_same=False)],
    "POST /ask/expert": [Call("/ask/expert", form={"answer": "<answer>", "expert": "<room> ada"}, is_same=False)],
    "POST /ask/share": [Call("/ask/share", form={"answer": "<answer>"}, is_same=False)],
    "POST /ask/unshare": [Call("/ask/unshare", form={"answer": "<answer>"}, is_same=False)],
    "GET /shared": [Call("/shared")],
    "GET /shared/{share}": [Call("/shared/<answer>")],
    "GET /search": [
        Call("/search?q=password", "message file upload title", is_same=False),
        Call("/search?kind=file", "file title", is_same=False),
        Call("/search?channel=<channel>", "message"),
    ],
    "GET /graph": [Call("/graph", "name"), Call("/graph?entity=<name>", "name")],
    "GET /graph/entities": [Call("/graph/entities?search=", "name"), Call("/graph/entities?search=<name>", "name")],
    "GET /graph/around": [
        Call(f"/graph/around?entity={quote(SHARED_NAME)}&depth=2&limit=200", "name"),
        Call("/graph/around?entity=<name>&depth=2&limit=200", "name"),
    ],
    "GET /graph/details": [
        Call(f"/graph/details?name={quote(SHARED_NAME)}", "name"),
        Call("/graph/details?name=<name>", "name correction"),
        Call(f"/graph/details?name={quote(SHARED_NAME)}&other=<name>", "name"),
    ],
    "GET /graph/corrections": [Call("/graph/corrections", "name")],
    "POST /graph/corrections": [Call("/graph/corrections", body=DESCRIBE, is_same=False)],
    "GET /documents": [Call("/documents", "title upload"), Call("/documents?search=<title>", "title")],
    "GET /documents/list": [Call("/documents/list", "title"), Call("/documents/list?search=<title>", "title")],
    "GET /documents/item": [
        Call("/documents/item?key=<file>", "file"),
        Call("/documents/item?key=<conversation>", "message name"),
        Call("/documents/item?key=<upload>", "upload"),
    ],
    "GET /documents/readers": [
        Call("/documents/readers?key=<file>", "channel"),
        Call("/documents/readers?key=<upload>"),
    ],
    "GET /documents/forget": [
        Call("/documents/forget?key=<file>", "question"),
        Call("/documents/forget?key=<upload>"),
    ],
    "GET /documents/forget-me": [Call("/documents/forget-me", is_same=False)],
    "POST /documents/upload": [Call("/documents/upload", is_same=False)],
    "POST /documents/forget": [
        Call("/documents/forget", form={"key": "<file>"}, is_same=False),
        Call("/documents/forget", form={"key": "<upload>"}, is_same=False),
    ],
    "POST /documents/forget-me": [],  # as in the API below
    "POST /documents/remember-me": [],
    "GET /decisions": [Call("/decisions"), Call("/decisions?person=<name>")],
    "GET /decisions.csv": [Call("/decisions.csv")],
    "GET /documents/my-data": [Call("/documents/my-data", is_same=False)],
    "GET /documents/my-data.jsonl": [Call("/documents/my-data.jsonl", is_same=False)],
    "GET /sources": [Call("/sources")],
    "GET /sources/list": [Call("/sources/list")],
    "POST /sources": [Call("/sources", form={"address": "https://notes.example", "channel": "<room>"}, is_same=False)],
    "GET /sources/{name}/unread": [Call("/sources/none/unread")],
    "POST /sources/{name}/remove": [Call("/sources/none/remove", form={}, is_same=False)],
    "POST /sources/{name}/sync": [Call("/sources/none/sync", form={}, is_same=False)],
    "POST /sources/{name}/pause": [Call("/sources/none/pause", form={}, is_same=False)],
    "GET /channels": [Call("/channels", "channel")],
    "GET /channels/{room}": [Call("/channels/<room>", "channel style")],
    "POST /channels/{room}": [Call("/channels/<room>", form={"style": "Long."}, is_same=False)],
    "POST /channels/{room}/backfill": [Call("/channels/<room>/backfill", form={"days": "3"}, is_same=False)],
    "GET /questions": [
        Call("/questions", "channel verified answer"),
        Call("/questions?room=<room>", "channel question reason"),
    ],
    "GET /questions/faq.md": [Call("/questions/faq.md", is_same=False)],
    "POST /questions/verify": [
        Call("/questions/verify", form={"answer": "<answer>", "text": "A lie."}, is_same=False),
        Call("/questions/verify", form={"answer": "<answer>", "shown": "<room>"}, is_same=False),
    ],
    "POST /questions/pin": [
        Call("/questions/pin", form={"room": "<room>", "question": WHAT, "text": "A lie."}, is_same=False)
    ],
    "POST /questions/remove": [
        Call("/questions/remove", form={"room": "<room>", "answer": "<verified>"}, is_same=False)
    ],
    "GET /usage": [Call("/usage", is_same=False)],
    "GET /health": [Call("/health", is_same=False)],
    "GET /health/state": [Call("/health/state", is_same=False)],
    "GET /login": [Call("/login")],
    "POST /login": [Call("/login", form={"token": "tl_1_x"}, is_same=False)],
    "GET /login/{provider}": [Call("/login/slack", is_same=False)],
    "GET /login/{provider}/callback": [Call("/login/slack/callback?code=1&state=1", is_same=False)],
    "POST /logout": [],  # ends the login of whoever walks
}

API_CALLS: dict[str, list[Call]] = {
    "POST /api/v1/query": [
        Call("/api/v1/query", ALL_TEXTS, {"question": WHAT}, is_same=False),
        Call("/api/v1/query", "file", {"question": WHAT, "documents": ["<file>"]}),
        Call("/api/v1/query", "message", {"question": WHAT, "channels": ["<room>"]}),
    ],
    "POST /api/v1/query/stream": [Call("/api/v1/query/stream", ALL_TEXTS, {"question": WHAT}, is_same=False)],
    "POST /api/v1/query/data": [
        Call("/api/v1/query/data", f"{ALL_TEXTS} name", {"question": f"{WHAT} Who met {SHARED_NAME}?"}, is_same=False),
        Call("/api/v1/query/data", "message", {"question": WHAT, "channels": ["<room>"]}),
    ],
    "POST /api/v1/summaries": [
        Call("/api/v1/summaries", "message", {"kind": "digest"}, is_same=False),
        Call("/api/v1/summaries", "message", {"channel": "<room>"}),
        Call("/api/v1/summaries", body={"channel": "<channel>"}),
        Call("/api/v1/summaries", "file", {"document": "<file>"}),
    ],
    "GET /api/v1/documents": [
        Call("/api/v1/documents", "title upload"),
        Call("/api/v1/documents?search=<title>", "title"),
    ],
    "POST /api/v1/documents": [Call("/api/v1/documents", is_same=False)],
    "GET /api/v1/documents/{key}": [
        Call("/api/v1/documents/<file>", "file title"),
        Call("/api/v1/documents/<conversation>", "message name"),
        Call("/api/v1/documents/<upload>", "upload"),
    ],
    "DELETE /api/v1/documents/{key}": [
        Call("/api/v1/documents/<file>", is_same=False),
        Call("/api/v1/documents/<upload>", is_same=False),
    ],
    "GET /api/v1/entities": [
        Call("/api/v1/entities", "name"),
        Call("/api/v1/entities?search=<name>", "name"),
    ],
    "GET /api/v1/entities/{name}": [
        Call("/api/v1/entities/<name>", "name correction"),
        Call(f"/api/v1/entities/{quote(SHARED_NAME)}", "name"),
    ],
    "GET /api/v1/graph": [
        Call(f"/api/v1/graph?entity={quote(SHARED_NAME)}&depth=2&limit=200", "name"),
        Call("/api/v1/graph?entity=<name>", "name"),
    ],
    "GET /api/v1/graph/entity": [
        Call(f"/api/v1/graph/entity?name={quote(SHARED_NAME)}", "name"),
        Call("/api/v1/graph/entity?name=<name>", "name correction"),
    ],
    "GET /api/v1/graph/relation": [
        Call(f"/api/v1/graph/relation?source={quote(SHARED_NAME)}&target=<name>", "name"),
    ],
    "GET /api/v1/graph/corrections": [Call("/api/v1/graph/corrections", "name correction")],
    "POST /api/v1/graph/corrections": [Call("/api/v1/graph/corrections", body=DESCRIBE, is_same=False)],
    "GET /api/v1/graph/duplicates": [Call("/api/v1/graph/duplicates")],
    "POST /api/v1/graph/facts": [
        Call(
            "/api/v1/graph/facts",
            body={"name": SHARED_NAME, "description": "A lie.", "channel": "<room>"},
            is_same=False,
        )
    ],
    # These change what is known of whoever sends them, which this walk must not.
    "POST /api/v1/share-answer": [Call("/api/v1/share-answer", body={"answer": "<answer>"}, is_same=False)],
    "POST /api/v1/unshare-answer": [Call("/api/v1/unshare-answer", body={"answer": "<answer>"}, is_same=False)],
    "POST /api/v1/shared-answers": [Call("/api/v1/shared-answers", body={})],
    "POST /api/v1/shared-answer": [Call("/api/v1/shared-answer", body={"share": "<answer>"}, is_same=False)],
    "POST /api/v1/readers": [
        Call("/api/v1/readers", "channel", body={"document": "<file>"}),
        Call("/api/v1/readers", "channel", body={"channel": "<room>"}),
    ],
    "POST /api/v1/search": [
        Call("/api/v1/search", "message file", {"text": "password", "limit": 100}, is_same=False),
        Call("/api/v1/search", "message", {"channel": "<channel>"}),
    ],
    "POST /api/v1/rate-answer": [
        Call("/api/v1/rate-answer", body={"answer": "<answer>", "helpful": True}, is_same=False)
    ],
    "POST /api/v1/answer-actions": [Call("/api/v1/answer-actions", body={"answer": "<answer>"}, is_same=False)],
    "POST /api/v1/ask-expert": [
        Call("/api/v1/ask-expert", body={"answer": "<answer>", "channel": "<room>", "person": "ada"}, is_same=False)
    ],
    "POST /api/v1/forget-me": [],
    "POST /api/v1/remember-me": [],
    "POST /api/v1/filters": [Call("/api/v1/filters", "channel", body={})],
    "POST /api/v1/backfill": [Call("/api/v1/backfill", body={"channel": "<room>", "days": 3}, is_same=False)],
    "POST /api/v1/forget-channel": [],
    "POST /api/v1/digest": [],
    "POST /api/v1/channel-digest": [
        Call("/api/v1/channel-digest", body={"channel": "<room>", "schedule": ""}, is_same=False)
    ],
    "POST /api/v1/experts": [Call("/api/v1/experts", body={"channel": "<room>"}, is_same=False)],
    "POST /api/v1/add-expert": [
        Call("/api/v1/add-expert", body={"channel": "<room>", "person": "x", "topic": "y"}, is_same=False)
    ],
    "POST /api/v1/remove-expert": [
        Call("/api/v1/remove-expert", body={"channel": "<room>", "person": "x"}, is_same=False)
    ],
    "POST /api/v1/decisions": [
        Call("/api/v1/decisions", body={}),
        Call("/api/v1/decisions", body={"person": "<name>"}),
    ],
    "POST /api/v1/history": [
        Call("/api/v1/history", body={"subject": SHARED_NAME}),
        Call("/api/v1/history", body={"subject": "<name>"}),
    ],
    "POST /api/v1/contradictions": [Call("/api/v1/contradictions", body={})],
    "POST /api/v1/settle-contradiction": [
        Call("/api/v1/settle-contradiction", body={"id": "none", "right": "older"}, is_same=False)
    ],
    "POST /api/v1/dismiss-contradiction": [Call("/api/v1/dismiss-contradiction", body={"id": "none"}, is_same=False)],
    "POST /api/v1/faq": [Call("/api/v1/faq", body={}, is_same=False)],
    "POST /api/v1/report": [Call("/api/v1/report", body={}, is_same=False)],
    "POST /api/v1/schedule-report": [],
    "POST /api/v1/watch": [],
    "POST /api/v1/watches": [Call("/api/v1/watches", body={})],
    "POST /api/v1/unwatch": [],
    "GET /api/v1/my-data.jsonl": [Call("/api/v1/my-data.jsonl", is_same=False)],
    "POST /api/v1/my-data": [Call("/api/v1/my-data", body={}, is_same=False)],
    "POST /api/v1/receipts": [Call("/api/v1/receipts", body={})],
    "POST /api/v1/verify-receipt": [Call("/api/v1/verify-receipt", body={"receipt": "{}"})],
    "POST /api/v1/audit-log": [Call("/api/v1/audit-log", body={}, is_same=False)],
    "POST /api/v1/list-sources": [Call("/api/v1/list-sources", body={})],
    "POST /api/v1/list-unread-items": [Call("/api/v1/list-unread-items", body={"name": "none"})],
    "POST /api/v1/add-source": [
        Call("/api/v1/add-source", body={"address": "https://notes.example", "channel": "<room>"}, is_same=False)
    ],
    "POST /api/v1/remove-source": [Call("/api/v1/remove-source", body={"name": "none"}, is_same=False)],
    "POST /api/v1/sync-source": [Call("/api/v1/sync-source", body={"name": "none"}, is_same=False)],
    "POST /api/v1/pause-source": [Call("/api/v1/pause-source", body={"name": "none"}, is_same=False)],
    "GET /api/v1/channels": [Call("/api/v1/channels", "channel")],
    "GET /api/v1/channels/{room}": [Call("/api/v1/channels/<room>", "channel style")],
    "PATCH /api/v1/channels/{room}": [
        Call("/api/v1/channels/<room>", body={"values": {"style": "Long."}}, is_same=False)
    ],
    "GET /api/v1/questions": [
        Call("/api/v1/questions"),
        Call("/api/v1/questions?room=<room>", "channel question reason"),
    ],
    "POST /api/v1/questions/{answer}/verify": [
        Call("/api/v1/questions/<answer>/verify", body={"text": "A lie."}, is_same=False),
        Call("/api/v1/questions/<answer>/verify", body={}, is_same=False),
    ],
    "GET /api/v1/verified-answers": [
        Call("/api/v1/verified-answers", "verified answer"),
        Call("/api/v1/verified-answers?room=<room>", "verified answer"),
    ],
    "POST /api/v1/verified-answers": [
        Call("/api/v1/verified-answers", body={"channel": "<room>", "question": WHAT, "text": "A lie."}, is_same=False)
    ],
    "DELETE /api/v1/verified-answers/{room}/{answer}": [
        Call("/api/v1/verified-answers/<room>/<verified>", is_same=False)
    ],
    "GET /api/v1/usage": [Call("/api/v1/usage", is_same=False)],
    "GET /api/v1/health/details": [Call("/api/v1/health/details", is_same=False)],
    "GET /api/v1/health": [Call("/api/v1/health", is_same=False)],
    "GET /api/v1/status": [Call("/api/v1/status")],
    "GET /v1/models": [Call("/v1/models", is_same=False)],
    "POST /v1/chat/completions": [
        Call(
            "/v1/chat/completions",
            "message",
            {"model": "threadlore", "messages": [{"role": "user", "content": WHAT}]},
            is_same=False,
        )
    ],
}


def _call_mcp(shows: str, method: str, *, is_same: bool = True, **parameters: Any) -> Call:
    body = {"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters}
    return Call("/mcp", shows, body, is_same=is_same)


def _call_tool(name: str, shows: str, /, *, is_same: bool = True, **arguments: Any) -> Call:
    return _call_mcp(shows, "tools/call", is_same=is_same, name=name, arguments=arguments)


MCP_CALLS: dict[str, list[Call]] = {
    "ask": [_call_tool("ask", ALL_TEXTS, is_same=False, question=WHAT)],
    "retrieve": [_call_tool("retrieve", ALL_TEXTS, is_same=False, question=WHAT)],
    "entity": [_call_tool("entity", "name", name=SHARED_NAME), _call_tool("entity", "name correction", name="<name>")],
    "neighborhood": [
        _call_tool("neighborhood", "name", name=SHARED_NAME, depth=2),
        _call_tool("neighborhood", "name", name="<name>"),
    ],
    "documents": [_call_tool("documents", "title upload")],
    "summary": [
        _call_tool("summary", "message", is_same=False),
        _call_tool("summary", "file", document="<file>"),
        _call_tool("summary", "", channel="<channel>"),
    ],
    "resources": [_call_mcp("title", "resources/list"), _call_mcp("file", "resources/read", uri="<resource>")],
}


def list_operations(app: FastAPI) -> tuple[set[str], set[str]]:
    """The operations of the pages, and those of the API, each as its method and path."""
    paths = app.openapi()["paths"]
    api = {f"{method.upper()} {path}" for path, methods in paths.items() for method in methods}
    pages, others = set[str](), set[str]()
    for route in _list_routes(app.routes):
        if not isinstance(route, APIRoute):
            assert isinstance(route, Route | Mount)
            others.add(route.path)
        elif not route.include_in_schema and route.methods:
            pages |= {f"{method} {route.path}" for method in route.methods}
    assert others == NEITHER_PAGE_NOR_API
    return pages, api


def _list_routes(routes: Iterable[BaseRoute]) -> Iterator[BaseRoute]:
    for route in routes:
        included = getattr(route, "original_router", None)
        yield from [route] if included is None else _list_routes(included.routes)
