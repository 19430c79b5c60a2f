"""The application of the setup, and what it refuses: other hosts, other sites, and large bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import FastAPI
from fastapi.responses import RedirectResponse
from starlette.datastructures import Headers, MutableHeaders

from adapters.web import problems
from adapters.web.admission import FOREIGN
from adapters.web.pages import shell
from adapters.web.pages.session import SAFE_METHODS, PageOptions, is_api_path, is_local_browser, is_same_origin
from adapters.web.pages.shell import render_shell
from adapters.web.problems import Problem, to_response
from adapters.web.security import SecurityHeaders
from adapters.web.setup import routes

if TYPE_CHECKING:
    from fastapi import Request, Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from adapters.web.setup.session import SetupSession
    from bot.setup.state import SetupState

MARK = "Threadlore-Setup"  # a header by which the last page knows that the program has not started yet
NOT_LOCAL = Problem.named(
    "NotLocal",
    403,
    "This page is for a browser on the computer on which Threadlore runs, without a proxy.",
    hint="Open the address that the terminal shows, or run `threadlore init` there.",
)
NOT_SET_UP = Problem.named(
    "NotSetUp",
    503,
    "Threadlore is not set up yet.",
    hint="Open the page in a browser on its computer, or start it with `threadlore serve --web --no-setup`.",
)


class Guard:
    """Passes on what a browser on this computer sends from a page of this server."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it; each response has the mark."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_marked(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message)[MARK] = "1"
            await send(message)

        problem = _find_problem(scope)
        await (to_response(problem) if problem else self._app)(scope, receive, send_marked)


def _find_problem(scope: Scope) -> Problem | None:
    headers = Headers(scope=scope)
    if not is_local_browser(headers, scope["http_version"]):
        return NOT_LOCAL
    if is_api_path(scope["path"]):
        return NOT_SET_UP
    return None if scope["method"] in SAFE_METHODS or is_same_origin(headers) else FOREIGN


def build_setup_app(state: SetupState, session: SetupSession) -> FastAPI:
    """The application over the choices of one browser."""
    app = FastAPI(openapi_url=None, docs_url=None, redoc_url=None)
    app.state.setup, app.state.session, app.state.page_options = state, session, PageOptions()
    problems.register(app, _respond)
    app.add_middleware(SecurityHeaders)
    app.add_middleware(Guard)
    app.mount(shell.PREFIX, shell.Assets())
    app.include_router(routes.router)
    return app


async def _respond(http: Request, problem: Problem) -> Response:
    """The response to a request that failed; without the code it is the first page."""
    if problem.status == 401 and "text/html" in http.headers.get("accept", ""):
        return RedirectResponse(routes.START, 303)
    title = "Nothing here" if problem.status == 404 else "That did not work"
    return render_shell(http, None, "setup/problem.html", problem.status, title=title, problem=problem)
