"""Log in with an access token, and log out."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated
from urllib.parse import parse_qs

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from adapters.web.operations import check_token
from adapters.web.operations import log_out as revoke_login
from adapters.web.pages.session import delete_cookie, get_address, get_cookie, set_cookie, to_local_path
from adapters.web.pages.shell import render_shell
from bot.errors import InvalidToken, TooManyRequests
from bot.listeners.attempts import Attempts
from engine.errors import DocumentTooLarge, EngineError

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from adapters.web.oauth import LoginOptions
    from engine import Clock

router = APIRouter(include_in_schema=False)

MAX_FAILURES, WINDOW_SECONDS = 20, 60.0
MAX_FORM_BYTES = 16 * 1024  # of a token and a path


class FailedLogins(Attempts):
    """The failed logins of the last minute by address, so that nobody tries token after token."""

    def __init__(self, clock: Clock) -> None:
        super().__init__(clock, MAX_FAILURES, WINDOW_SECONDS)

    def check(self, address: str) -> None:
        """Raise TooManyRequests if too many logins from an address failed."""
        if self.has_reached_limit(address):
            raise TooManyRequests("Too many logins failed.")


def render_login(http: Request, target: str, error: str = "", status: int = 200, *, reload: bool = False) -> Response:
    """The page with all ways to log in."""
    options: LoginOptions = http.app.state.login_options
    logins = {name: options.providers[name].label for name in options.clients}
    return render_shell(http, None, "login.html", status, target=target, error=error, reload=reload, logins=logins)


@router.get("/login")
async def show_login(http: Request, next_path: Annotated[str, Query(alias="next", max_length=2000)] = "/") -> Response:
    """Ask for an access token, unless the browser has a valid one; forget one that is not valid."""
    target = to_local_path(next_path)
    if not (token := get_cookie(http)):
        # A browser that comes from another site sends its cookie with the second request only (SameSite=Strict).
        is_foreign = http.headers.get("sec-fetch-site") == "cross-site"
        return render_login(http, target, reload=is_foreign)
    try:
        await check_token(http, token)
    except InvalidToken as error:
        response = render_login(http, target, str(error))
        delete_cookie(http, response)
        return response
    return RedirectResponse(target, 303)


@router.post("/login")
async def log_in(http: Request) -> Response:
    """Check an access token, and keep it in a cookie."""
    failures: FailedLogins = http.app.state.failed_logins
    address = get_address(http)
    failures.check(address)
    body = await http.body()
    if len(body) > MAX_FORM_BYTES:
        failures.record(address)
        raise DocumentTooLarge(f"A form of a login has at most {MAX_FORM_BYTES} bytes.")
    form = parse_qs(body.decode(errors="replace"), keep_blank_values=True)
    token = form.get("token", [""])[0].strip()
    target = to_local_path(form.get("next", ["/"])[0])
    try:
        await check_token(http, token)
    except InvalidToken as error:
        failures.record(address)
        return render_login(http, target, str(error), 401)
    return await keep_login(http, token, {get_cookie(http)}, target)


async def keep_login(http: Request, token: str, former: AbstractSet[str], target: str) -> Response:
    """Keep a token in the browser instead of its former ones, and open a page."""
    for other in former - {token}:
        await end_login(http, other)
    response = RedirectResponse(target, 303)
    set_cookie(http, response, token)
    return response


@router.post("/logout")
async def log_out(http: Request) -> Response:
    """Forget the access token, and revoke it if a login made it."""
    await end_login(http, get_cookie(http))
    response = RedirectResponse("/", 303)
    delete_cookie(http, response)
    return response


async def end_login(http: Request, token: str) -> None:
    """Revoke a token that the browser forgets, if a login made it."""
    if token:
        with suppress(EngineError):  # whatever is wrong with it, the browser forgets it
            await revoke_login(http, token)
