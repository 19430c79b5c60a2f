"""The pages that install the app: `/slack/install` sends a browser to Slack, which sends it back with a code."""

from __future__ import annotations

import html
import json
from functools import partial
from importlib import resources
from typing import TYPE_CHECKING
from urllib.parse import quote, urljoin

import structlog
from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncBoltRequest
from slack_bolt.oauth.async_callback_options import AsyncCallbackOptions
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.oauth.async_oauth_settings import AsyncOAuthSettings
from slack_bolt.response import BoltResponse

from adapters.slack.errors import SLACK_ERRORS, error_code
from adapters.slack.install.withheld import OTHERS, OWN, Ownership
from bot.listeners.admission import to_share_key
from bot.listeners.attempts import Attempts
from engine.errors import EngineError

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from slack_bolt.oauth.async_callback_options import AsyncFailureArgs, AsyncSuccessArgs
    from slack_sdk.oauth.installation_store import Installation
    from slack_sdk.web.async_client import AsyncWebClient

    from adapters.slack.install.store import InstallationStore, StateStore
    from adapters.slack.settings import SlackSettings
    from bot.listeners.admission import TrustedProxies
    from engine import Clock

log = structlog.get_logger(__name__)

NOTHING_STORED = (
    "But nothing of it is read, stored or answered: it is not named as one of the operator's own workspaces. The"
    f" operator can name it in {OWN}, or set {OTHERS} if that is allowed."
)
INSTALL_PATH, REDIRECT_PATH = "/slack/install", "/slack/oauth_redirect"
UNAVAILABLE = "unavailable"
TOO_MANY = "too_many"
MAX_VISITS = 30  # of both pages, from one address in a minute
REASONS = {
    "access_denied": "The installation was cancelled. Nothing was installed.",
    "invalid_browser": "This page belongs to an installation that another browser began, or that is over.",
    "invalid_state": "This installation took longer than ten minutes, or is over already.",
    "missing_code": "Slack did not confirm the installation.",
    "invalid_code": "Slack did not accept the installation: its code is wrong or was used before.",
    "storage_error": "The installation could not be stored. The operator finds the reason in the log.",
    UNAVAILABLE: "Slack could not be reached. Nothing was installed.",
    TOO_MANY: "Too many installations were tried from this address. Wait a minute.",
}
HEADERS = {
    "Content-Type": "text/html; charset=utf-8",
    "Cache-Control": "no-store",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'",
    "Referrer-Policy": "no-referrer",  # the address of the page has the code
}
STYLE = "body{font:1.1em/1.5 sans-serif;max-width:34em;margin:4em auto;padding:0 1em}"


def build_flow(
    own: SlackSettings,
    client: AsyncWebClient,
    stores: tuple[InstallationStore, StateStore],
    on_installed: Callable[[], object],
) -> AsyncOAuthFlow:
    """Build the flow; `on_installed` is called once an installation is stored."""
    installations, states = stores
    settings = AsyncOAuthSettings(
        client_id=own.client_id,
        client_secret=own.client_secret.get_secret_value(),
        scopes=list_scopes(),
        user_scopes=[],
        install_path=INSTALL_PATH,
        install_page_rendering_enabled=False,
        redirect_uri_path=REDIRECT_PATH,
        authorization_url=urljoin(own.api_base, "/oauth/v2/authorize"),
        installation_store=installations,
        state_store=states,
        callback_options=AsyncCallbackOptions(
            partial(_show_success, states, on_installed, Ownership.of(own)), _show_failure
        ),
        logger=client.logger,
    )
    return AsyncOAuthFlow(client=client, logger=client.logger, settings=settings)


def list_scopes() -> list[str]:
    """The scopes that the manifest of a distributed app has."""
    manifest = resources.files("adapters.slack").joinpath("manifest-distributed.json").read_text("utf-8")
    scopes: list[str] = json.loads(manifest)["oauth_config"]["scopes"]["bot"]
    return scopes


def list_routes(flow: AsyncOAuthFlow, visits: Visits) -> list[web.RouteDef]:
    """The routes of both pages."""
    return [
        web.get(INSTALL_PATH, partial(_serve, flow.handle_installation, visits)),
        web.get(REDIRECT_PATH, partial(_serve, flow.handle_callback, visits)),
    ]


class Visits:
    """The visits of strangers to the pages. Each costs a call to Slack at most, and an address has few of them."""

    def __init__(self, clock: Clock, proxies: TrustedProxies) -> None:
        self._attempts = Attempts(clock, MAX_VISITS)
        self._proxies = proxies

    def admit(self, request: web.BaseRequest) -> bool:
        """Count a visit; whether its address has not had too many."""
        forwarded = ",".join(request.headers.getall("X-Forwarded-For", ()))
        address = to_share_key(self._proxies.find_client(request.remote or "", forwarded))
        if self._attempts.has_reached_limit(address):
            return False
        self._attempts.record(address)
        return True


async def _serve(
    handle: Callable[[AsyncBoltRequest], Awaitable[BoltResponse]], visits: Visits, request: web.BaseRequest
) -> web.Response:
    if not visits.admit(request):
        return await to_aiohttp_response(_build_failure_page(TOO_MANY, 429))
    headers: dict[str, str | Sequence[str]] = {
        name: ", ".join(request.headers.getall(name)) for name in request.headers
    }
    try:
        response = await handle(AsyncBoltRequest(body="", query=request.query_string, headers=headers))
    except SLACK_ERRORS as error:
        log.warning("slack.installation_failed", reason=error_code(error))
        response = _build_failure_page(UNAVAILABLE, 502)
    except EngineError as error:
        log.warning("slack.installation_failed", reason=type(error).__name__)
        response = _build_failure_page("storage_error", 500)
    return await to_aiohttp_response(response)


async def _show_success(
    states: StateStore, on_installed: Callable[[], object], ownership: Ownership, args: AsyncSuccessArgs
) -> BoltResponse:
    installation = args.installation
    await states.spend(args.request.query["state"][0])
    log.info("slack.installed", workspace=installation.team_id, organization=installation.enterprise_id)
    on_installed()
    text, link = _describe_next_steps(installation)
    if not ownership.may_store(installation.team_id or "", None, installation.enterprise_id or ""):
        text = f"{text} {NOTHING_STORED}"
    page = _build_page("Installed", text, link)
    page.headers["set-cookie"] = [args.settings.state_utils.build_set_cookie_for_deletion()]
    return page


def _describe_next_steps(installation: Installation) -> tuple[str, str]:
    """What to do after an installation, and a link to it; HTML."""
    app = quote(installation.app_id or "")
    if installation.is_enterprise_install:
        name, organization = html.escape(installation.enterprise_name or ""), quote(installation.enterprise_id or "")
        url = f"https://app.slack.com/manage/{organization}/integrations/profile/{app}/workspaces/add"
        text = f"The app is installed in the organization {name}. Now add it to its workspaces."
        return text, f'<a href="{url}">Add it to workspaces</a>'
    name, team = html.escape(installation.team_name or ""), quote(installation.team_id or "")
    text = f"The app is installed in {name}. Invite it to the channels that it is to read."
    return text, f'<a href="https://slack.com/app_redirect?app={app}&amp;team={team}">Open Slack</a>'


async def _show_failure(args: AsyncFailureArgs) -> BoltResponse:
    log.warning("slack.installation_failed", reason=args.reason if args.reason in REASONS else "refused")
    return _build_failure_page(args.reason, args.suggested_status_code)


def _build_failure_page(reason: str, status: int) -> BoltResponse:
    """The page that says why nothing was installed. `reason`: perhaps of a stranger."""
    text = REASONS.get(reason) or f"Slack refused the installation: {html.escape(reason[:100])}."
    return _build_page("Not installed", text, '<a href="install">Try again</a>', status)


def _build_page(title: str, text: str, link: str, status: int = 200) -> BoltResponse:
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
        f"<h1>{title}</h1><p>{text}</p><p>{link}</p></html>"
    )
    return BoltResponse(status=status, body=body, headers=dict(HEADERS))
