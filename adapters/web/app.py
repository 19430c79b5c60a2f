"""The application: routes, errors as problem details, and what every response carries."""

from __future__ import annotations

from functools import cache
from importlib.metadata import version
from typing import TYPE_CHECKING

from fastapi import APIRouter, FastAPI

from adapters.web import derive, openai_api, problems
from adapters.web.admission import Budgets, FrontDoor
from adapters.web.oauth import LoginOptions
from adapters.web.pages import errors, shell, table
from adapters.web.pages.login import FailedLogins
from adapters.web.pages.session import PageOptions
from adapters.web.routes import documents, graph, health, management, mcp, queries, summaries
from adapters.web.security import RequestLimits, SecurityHeaders
from adapters.web.uploads import UploadGate
from bot.listeners.admission import TrustedProxies

if TYPE_CHECKING:
    from bot.rpc.service import AdminService
    from engine import Clock

PREFIX = "/api/v1"
ABOUT = """Questions about the channels and files of a workspace, answered with citations.

Every call needs an access token (`threadlore token create`) in the header `Authorization: Bearer …`. A token speaks for
one person, or for a space of the terminal, and reads exactly what they can read at that moment. Errors are problem
details (RFC 9457).
"""


def build_app(
    service: AdminService,
    clock: Clock,
    page_options: PageOptions | None = None,
    login_options: LoginOptions | None = None,
    proxies: TrustedProxies | None = None,
    budgets: Budgets | None = None,
) -> FastAPI:
    """The application on a service: of this process, or of a running one over the local socket."""
    app = FastAPI(
        title="Threadlore",
        version=version("threadlore"),
        description=ABOUT,
        openapi_url=f"{PREFIX}/openapi.json",
        docs_url=None,
        redoc_url=None,
        separate_input_output_schemas=False,
        responses=problems.RESPONSES,
    )
    app.state.service = service
    app.state.clock = clock
    app.state.uploads = UploadGate()
    app.state.page_options = page_options or PageOptions()
    app.state.proxies = proxies or TrustedProxies()
    app.state.login_options = login_options or LoginOptions()
    app.state.failed_logins = FailedLogins(clock)
    app.state.navigation = table.NAVIGATION
    problems.register(app, errors.respond)
    app.add_middleware(RequestLimits)
    app.add_middleware(FrontDoor, service=service, budgets=budgets or Budgets())
    app.add_middleware(SecurityHeaders)
    app.router.routes.extend(build_routes().routes)
    app.mount(shell.PREFIX, shell.Assets())
    mcp.add_route(app, service, clock)
    return app


@cache
def build_routes() -> APIRouter:
    """The routes that all applications of a process share; to read what their functions take costs 0.1 s."""
    routes = APIRouter(responses=problems.RESPONSES)
    for router in (queries.router, summaries.router, documents.router, graph.router, management.router, health.router):
        routes.include_router(router, prefix=PREFIX)
    routes.include_router(derive.build_router(), prefix=PREFIX)
    for router in (openai_api.router, *table.ROUTERS):
        routes.include_router(router)
    return routes
