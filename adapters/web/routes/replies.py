"""Ask every route and page that reads, without a socket: for the test of what somebody could learn."""

from __future__ import annotations

import asyncio
import json
from itertools import chain
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, unquote_plus, urlencode

from fastapi.routing import APIRoute

from adapters.web import derive, openai_api
from adapters.web.admission import Budgets
from adapters.web.app import PREFIX, build_app
from adapters.web.pages import table
from adapters.web.routes import documents, graph, management, queries, summaries

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

    from fastapi import FastAPI

    from bot.rpc.service import AdminService
    from engine import Clock

# The kinds of words that parameters take.
KINDS = {"name": "name", "entity": "name", "source": "name", "target": "name", "search": "name", "center": "name"}
KINDS |= {"q": "text", "question": "text", "text": "text", "key": "key", "document": "key", "id": "answer"}
KINDS |= {"room": "room", "channel": "room", "answer": "answer", "share": "link"}
ASKED = (f"{PREFIX}/query", f"{PREFIX}/query/data", f"{PREFIX}/query/stream", f"{PREFIX}/search")
LEFT_OUT = ("/login", "/logout", "/static")


async def read_replies(
    service: AdminService, clock: Clock, token: str, words: Mapping[str, Sequence[str]]
) -> AsyncIterator[tuple[str, str, str]]:
    """Yield the path, what was asked and the body of each response."""
    app = build_app(service, clock, budgets=Budgets())
    for prefix, route in _list_routes():
        for path, query in _fill(route, words):
            reply = await _call(app, token, ("GET", f"{prefix}{path}", query), b"")
            yield f"GET {prefix}{route.path}", f"{unquote(path)} {unquote_plus(query)}", reply
    for path in ASKED:
        field = "text" if path.endswith("search") else "question"
        for text in words["text"]:
            yield f"POST {path}", text, await _call(app, token, ("POST", path, ""), json.dumps({field: text}).encode())
    for text in words["text"]:
        body = {"model": "threadlore", "messages": [{"role": "user", "content": text}]}
        path = "/v1/chat/completions"
        yield f"POST {path}", text, await _call(app, token, ("POST", path, ""), json.dumps(body).encode())


def _list_routes() -> Iterator[tuple[str, APIRoute]]:
    """The routes that read, with what their paths begin with."""
    routers = [(PREFIX, router) for router in (queries.router, summaries.router, documents.router, graph.router)]
    routers += [(PREFIX, router) for router in (management.router, derive.build_router())]
    routers += [("", apirouter) for apirouter in (openai_api.router, *table.ROUTERS)]
    for prefix, router in routers:
        for route in router.routes:
            if isinstance(route, APIRoute) and "GET" in (route.methods or ()) and not route.path.startswith(LEFT_OUT):
                yield prefix, route


def _fill(route: APIRoute, words: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """The paths and queries of a route: one for each word that its parameters take, or a single one."""
    inside = [param.name for param in route.dependant.path_params]
    queries = [param.alias for param in route.dependant.query_params]
    taken = route.dependant.query_params
    queries += [name for param in taken for name in getattr(param.field_info.annotation, "model_fields", ())]
    kinds = {KINDS[name] for name in (*inside, *queries) if name in KINDS}
    if not inside:
        yield route.path, ""
    for kind in sorted(kinds):
        for word in words.get(kind, ()):
            path = route.path
            for name in inside:
                path = path.replace(f"{{{name}:path}}", f"{{{name}}}").replace(f"{{{name}}}", quote(word, safe=""))
            yield path, urlencode({name: word for name in queries if KINDS.get(name) == kind})


async def _call(app: FastAPI, token: str, target: tuple[str, str, str], body: bytes) -> str:
    """The response to a request, headers included, as an API client or as a browser that is logged in."""
    method, path, query = target
    headers = [(b"host", b"127.0.0.1"), (b"content-length", str(len(body)).encode())]
    headers.append((b"content-type", b"application/json"))
    is_api = path.startswith((PREFIX, "/v1"))
    named = ("authorization", f"Bearer {token}") if is_api else ("cookie", f"threadlore={token}")
    headers.append((named[0].encode(), named[1].encode()))
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "path": unquote(path),
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 80),
    }
    return await _Exchange(body).run(app, scope)


class _Exchange:
    """One request and its response."""

    def __init__(self, body: bytes) -> None:
        self._body: bytes | None = body
        self._found: list[bytes] = []
        self._done = asyncio.Event()

    async def run(self, app: FastAPI, scope: dict[str, Any]) -> str:
        """The headers and the body of the response."""
        await app(scope, self._receive, self._send)
        return b"\n".join(self._found).decode(errors="replace")

    async def _receive(self) -> dict[str, Any]:
        if self._body is None:
            await self._done.wait()
            return {"type": "http.disconnect"}
        body, self._body = self._body, None
        return {"type": "http.request", "body": body, "more_body": False}

    async def _send(self, message: Mapping[str, Any]) -> None:
        self._found.extend(chain.from_iterable(message.get("headers", ())))
        self._found.append(message.get("body", b""))
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self._done.set()
