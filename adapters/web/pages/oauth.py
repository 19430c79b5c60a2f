"""Log in by an account of a chat platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import structlog
from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse
from starlette.exceptions import HTTPException

from adapters.web.oauth import decode_attempt, encode_attempt, start_attempt
from adapters.web.operations import log_in
from adapters.web.pages.login import keep_login, render_login
from adapters.web.pages.session import (
    delete_attempt_cookie,
    get_address,
    get_attempt_cookie,
    get_cookie,
    set_attempt_cookie,
    to_local_path,
)
from bot.errors import NotAllowed, PlatformError

if TYPE_CHECKING:
    from adapters.web.oauth import LoginAttempt, LoginOptions
    from adapters.web.pages.login import FailedLogins

log = structlog.get_logger(__name__)

router = APIRouter(include_in_schema=False)

MAX_QUERY = 2000  # characters of a parameter


@router.get("/login/{provider}")
async def start_login(
    http: Request,
    provider: str,
    next_path: Annotated[str, Query(alias="next", max_length=MAX_QUERY)] = "/",
    workspace: Annotated[str, Query(max_length=40)] = "",
) -> Response:
    """Send the browser to the platform, and remember for which login."""
    options = _get_options(http, provider)
    attempt = start_attempt(provider, to_local_path(next_path), workspace, get_cookie(http))
    url = options.providers[provider].build_url(options.clients[provider], attempt)
    response = RedirectResponse(url, 303)
    set_attempt_cookie(http, response, encode_attempt(attempt))
    return response


@router.get("/login/{provider}/callback")
async def finish_login(
    http: Request,
    provider: str,
    code: Annotated[str, Query(max_length=MAX_QUERY)] = "",
    state: Annotated[str, Query(max_length=MAX_QUERY)] = "",
) -> Response:
    """Log in whom the platform names, if this browser began the login; each attempt has one end."""
    _get_options(http, provider)
    attempt = decode_attempt(get_attempt_cookie(http))
    if attempt is not None and attempt.is_answered_by(provider, state):
        response = await _complete(http, attempt, code)
    else:
        response = render_login(http, "/", "This login was not begun in this browser, or too long ago.", 401)
    delete_attempt_cookie(http, response)
    return response


async def _complete(http: Request, attempt: LoginAttempt, code: str) -> Response:
    """Log in whom the platform names; failures are counted, because each asks the platform."""
    options, target = _get_options(http, attempt.provider), to_local_path(attempt.target)
    failures: FailedLogins = http.app.state.failed_logins
    address = get_address(http)
    failures.check(address)
    try:
        client = options.clients[attempt.provider]
        token = await log_in(http, await options.providers[attempt.provider].identify(client, attempt, code))
    except (NotAllowed, PlatformError) as error:
        log.warning("login.failed", provider=attempt.provider, error=type(error).__name__)
        failures.record(address)
        return render_login(http, target, str(error), 401)
    return await keep_login(http, token, {attempt.former, get_cookie(http)}, target)


def _get_options(http: Request, provider: str) -> LoginOptions:
    options: LoginOptions = http.app.state.login_options
    if provider not in options.clients:
        raise HTTPException(404, "There is no such login.")
    return options
