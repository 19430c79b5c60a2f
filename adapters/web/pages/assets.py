"""Scripts and styles of the pages, built into `adapters/web/static/`."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from starlette.exceptions import HTTPException
from starlette.staticfiles import StaticFiles

if TYPE_CHECKING:
    from starlette.responses import Response
    from starlette.types import Scope

FOLDER = Path(__file__).parents[1] / "static"
PREFIX = "/static"
IMMUTABLE = "public, max-age=31536000, immutable"
HASHED_FOLDER = "chunks/"  # the names of the files in it contain a hash of their content


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
