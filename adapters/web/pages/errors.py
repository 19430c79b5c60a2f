"""Show a problem as a page, as a part of a page, or, to scripts, as problem details."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from fastapi.responses import RedirectResponse, Response

from adapters.web.pages.guard import is_api_path
from adapters.web.pages.shell import render_part, render_shell
from adapters.web.problems import to_response

if TYPE_CHECKING:
    from fastapi import Request

    from adapters.web.problems import Problem

LOGIN = "/login"
TITLES = {
    400: "This request is not valid",
    401: "Please log in",
    403: "Not permitted",
    404: "Nothing here",
    409: "Something changed meanwhile",
    413: "Too large",
    422: "This request is not valid",
    429: "Too many requests",
    503: "Not possible at the moment",
}


def respond(http: Request, problem: Problem) -> Response:
    """The response to a request that failed."""
    is_part = http.headers.get("hx-request") == "true"  # htmx accepts */*
    is_page = is_part or "text/html" in http.headers.get("accept", "text/html")
    if is_api_path(http.scope["path"]) or not is_page:
        return to_response(problem)
    if problem.status == 401:
        return _ask_for_login(http, is_part=is_part)
    title = TITLES.get(problem.status, "Something went wrong")
    if is_part:
        return render_part("parts/notice.html", problem.status, title=title, problem=problem)
    return render_shell(http, None, "problem.html", problem.status, title=title, problem=problem)


def _ask_for_login(http: Request, *, is_part: bool) -> Response:
    if is_part:
        return Response(status_code=401, headers={"HX-Redirect": LOGIN})
    path = http.scope["path"] if http.method == "GET" else "/"
    query = http.scope["query_string"].decode("latin-1")
    query = f"?{query}" if http.method == "GET" and query else ""
    return RedirectResponse(f"{LOGIN}?next={quote(path + query)}", 303)
