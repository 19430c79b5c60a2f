"""Show a problem as a page, as a part of a page, or, to scripts, as problem details."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response

from adapters.web.pages.session import get_page_access, get_viewer, is_api_path
from adapters.web.pages.shell import render_part, render_shell
from adapters.web.problems import to_response
from engine.errors import EngineError

if TYPE_CHECKING:
    from fastapi import Request

    from adapters.web.pages.session import Viewer
    from adapters.web.problems import Problem

LOGIN = "/login"
TITLES = {
    400: "This request is not valid",
    401: "Please log in",
    403: "Not permitted",
    404: "Nothing here",
    405: "This address shows no page",
    409: "Something changed meanwhile",
    413: "Too large",
    422: "This request is not valid",
    429: "Too many requests",
    503: "Not possible at the moment",
}


async def respond(http: Request, problem: Problem) -> Response:
    """The response to a request that failed; a page has the navigation of whoever is logged in."""
    is_part = http.headers.get("hx-request") == "true"  # htmx accepts */*
    is_page = is_part or "text/html" in http.headers.get("accept", "text/html")
    if is_api_path(http.scope["path"]) or not is_page:
        return to_response(problem)
    if problem.status == 401:
        return _ask_for_login(http, is_part=is_part)
    title = TITLES.get(problem.status, "Something went wrong")
    if is_part:
        return render_part("parts/notice.html", problem.status, title=title, problem=problem)
    viewer = await _find_viewer(http)
    return render_shell(http, viewer, "problem.html", problem.status, title=title, problem=problem)


async def _find_viewer(http: Request) -> Viewer | None:
    """Who sees the problem; None without a login, or if that cannot be looked up now."""
    with suppress(EngineError):
        return await get_viewer(http, get_page_access(http))
    return None


def _ask_for_login(http: Request, *, is_part: bool) -> Response:
    if is_part:
        return Response(status_code=401, headers={"HX-Redirect": LOGIN})
    path = http.scope["path"] if http.method == "GET" else "/"
    query = http.scope["query_string"].decode("latin-1")
    query = f"?{query}" if http.method == "GET" and query else ""
    return RedirectResponse(f"{LOGIN}?next={quote(path + query)}", 303)
