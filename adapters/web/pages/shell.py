"""Render templates: the shell around every page with its built files, and parts of pages."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

from adapters.common.shown_text import clean_prose
from adapters.web.pages.session import get_viewer
from bot.errors import NotPermitted
from bot.text.excerpts import strip_heading
from bot.text.markdown import is_web_link

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastapi import Request
    from starlette.responses import Response
    from starlette.types import Scope

    from adapters.web.operations import Access
    from adapters.web.pages.session import Viewer


FOLDER = Path(__file__).parents[1] / "static"
PREFIX = "/static"
IMMUTABLE = "public, max-age=31536000, immutable"
HASHED_FOLDER = "chunks/"  # the names of the files in it contain a hash of their content
CONTENT_SECURITY_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": CONTENT_SECURITY_POLICY,
    "Referrer-Policy": "same-origin",  # with none at all browsers send forms without their origin
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=()",
}


class Assets(StaticFiles):
    """The built files; what an address with a version leads to never changes."""

    def __init__(self) -> None:
        super().__init__(directory=FOLDER, check_dir=False)

    async def get_response(self, path: str, scope: Scope) -> Response:
        """A file, with how long browsers may keep it."""
        if not FOLDER.is_dir():
            raise HTTPException(404)
        response = await super().get_response(path, scope)
        is_versioned = scope["query_string"].startswith(b"v=") or path.startswith(HASHED_FOLDER)
        response.headers["cache-control"] = IMMUTABLE if is_versioned else "no-cache"
        return response


def are_built() -> bool:
    """Whether the files were built."""
    return (FOLDER / "styles.css").exists()


@cache
def get_asset_url(name: str) -> str:
    """The address of a built file, which changes with its content; without a version if it was not built."""
    path = FOLDER / name
    if not path.exists():
        return f"{PREFIX}/{name}"
    return f"{PREFIX}/{name}?v={sha256(path.read_bytes()).hexdigest()[:12]}"


@dataclass(frozen=True, slots=True)
class NavigationEntry:
    """A page in the navigation. `icon`: of templates/icons.html; `permission`: that a token needs."""

    path: str
    title: str
    icon: str
    permission: str


def _finalize(value: Any) -> Any:
    """A value as a template shows it: texts without characters that control what is shown or in which order."""
    return type(value)(clean_prose(value)) if isinstance(value, str) else value


_environment = Environment(
    loader=PackageLoader("adapters.web"),
    autoescape=select_autoescape(default=True),
    undefined=StrictUndefined,
    finalize=_finalize,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.globals |= {"asset": get_asset_url, "are_built": are_built}
_environment.tests["web_link"] = is_web_link
_environment.filters["without_heading"] = strip_heading


async def render_page(http: Request, access: Access, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page for whoever has this access. Raises InvalidToken, StoreError."""
    viewer = await get_viewer(http, access)
    return render_shell(http, viewer, template, status, **values)


def render_shell(http: Request, viewer: Viewer | None, template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A whole page of a template; without a viewer, it has no navigation."""
    shown = _list_entries(http, viewer) if viewer else []
    shell = {"viewer": viewer, "navigation": shown, "current": http.scope["path"]}
    shell |= {"disclosure": http.app.state.page_options.disclosure}
    return _respond(render_text(template, **shell, **values), status)


def find_first_page(http: Request, viewer: Viewer) -> str:
    """The path of the first page that a viewer may see. Raises NotPermitted."""
    for entry in _list_entries(http, viewer):
        return entry.path
    raise NotPermitted("This access token permits no page.")


def _list_entries(http: Request, viewer: Viewer) -> list[NavigationEntry]:
    """The navigation of a viewer."""
    entries: Sequence[NavigationEntry] = http.app.state.navigation
    return [entry for entry in entries if entry.permission in viewer.permissions]


def render_part(template: str, status: int = 200, **values: Any) -> HTMLResponse:
    """A part of a page, that htmx puts into it."""
    return _respond(render_text(template, **values), status)


def render_text(template: str, **values: Any) -> str:
    """The HTML of a template; all values are escaped."""
    return _environment.get_template(template).render(values)


def _respond(text: str, status: int) -> HTMLResponse:
    return HTMLResponse(text, status, HEADERS)
