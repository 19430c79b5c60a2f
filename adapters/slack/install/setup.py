"""The setup of a Slack app: the page that creates it, its tokens, and what Slack says about them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import aiohttp

from adapters.slack.clients import ClientFactory
from adapters.slack.errors import APP_TOKEN, BOT_TOKEN, SLACK_ERRORS, map_connect_errors
from adapters.slack.install.manifests import (
    APPS_PAGE,
    HTTP_MANIFEST,
    MANIFESTS,
    SCOPES_HINT,
    list_lacking_scopes,
    read_manifest,
)
from adapters.slack.settings import SlackSettings
from bot.errors import PlatformError, SetupError
from bot.platform.setups import AccessCheck, AppVariant, Credential, RecognizedText, SetupStep, recognize_text

if TYPE_CHECKING:
    from collections.abc import Awaitable

    from slack_sdk.web.async_client import AsyncWebClient

    from bot.settings import Settings

CHECK_SECONDS = 10.0  # for one call
APP = Credential(
    "slack_app_token",
    "app-level token",
    "xapp-…",
    "Basic Information, App-Level Tokens: Generate Token, with the scope connections:write",
)
BOT = Credential(
    "slack_bot_token",
    "bot token",
    "xoxb-…",
    "Install App: install it, then copy the Bot User OAuth Token",
)
SECRET = Credential(
    "slack_signing_secret",
    "signing secret",
    "32 digits and letters from a to f",
    "Basic Information, App Credentials: Signing Secret",
)
NOT_USED = "Threadlore does not use it."
KINDS: tuple[tuple[str, RecognizedText], ...] = (
    (r"xapp-.*", RecognizedText("app-level token (xapp-)", APP.setting)),
    (r"xoxb-.*", RecognizedText("bot token (xoxb-)", BOT.setting)),
    (r"xoxp-.*", RecognizedText("user token (xoxp-)", hint="It acts for a person; the bot has a token of its own.")),
    (r"xoxe\.xoxb-.*", RecognizedText("rotating token (xoxe.xoxb-)", hint="Create the app without rotation.")),
    (r"xoxe[.-].*", RecognizedText("token that renews or configures apps (xoxe)", hint=NOT_USED)),
    (r"xox[cd]-.*", RecognizedText("token of a signed-in browser (xoxc, xoxd)", hint=NOT_USED)),
    (r"xox[a-z]-.*", RecognizedText("token of an older kind of app", hint=NOT_USED)),
    (r"[0-9a-f]{32}", RecognizedText("signing secret or client secret", SECRET.setting)),
    (r"\d{9,}\.\d{9,}", RecognizedText("client ID", hint=NOT_USED)),
    (r"[AT][A-Z0-9]{8,12}", RecognizedText("id of an app or a workspace", hint=NOT_USED)),
    (r"https://hooks\.slack\.com/.*", RecognizedText("address of a webhook", hint=NOT_USED)),
    (r"https://\S*slack\.com/.*", RecognizedText("address of a page", hint=NOT_USED)),
)


def build_creation_url(name: str) -> str:
    """The page that creates an app from a manifest, with everything filled in."""
    manifest = json.dumps(read_manifest(name), separators=(",", ":"), ensure_ascii=False)
    return f"{APPS_PAGE}?new_app=1&manifest_json={quote(manifest, safe='')}"


class SlackSetup:
    """Describes the setup of an app of one workspace."""

    title = "Slack"
    credentials = (APP, BOT, SECRET)
    variants = (
        AppVariant("free", "any plan, guests included: answers are posted, then extended"),
        AppVariant("agent", "paid plan, members only: Slack's agent pane, streamed answers; guests cannot use it"),
    )

    def list_needed(self, settings: Settings) -> tuple[Credential, ...]:
        """The tokens of a socket, or the bot token and what verifies requests over HTTP."""
        own = SlackSettings.load(settings)
        if own.client_id:
            return ()
        return (SECRET, BOT) if own.mode == "http" else (APP, BOT)

    def list_first_steps(self, settings: Settings, variant: str) -> tuple[SetupStep, ...]:
        """Create the app from its manifest."""
        name = HTTP_MANIFEST if SlackSettings.load(settings).mode == "http" else MANIFESTS[variant]
        text = "Open this page, choose the workspace, and confirm; the app is filled in (Next, Create)."
        steps = [SetupStep(text, build_creation_url(name))]
        if name == HTTP_MANIFEST:
            steps.append(SetupStep("Replace the address in the manifest by your own (docs/operations.md)."))
        return tuple(steps)

    def list_last_steps(self, settings: Settings) -> tuple[SetupStep, ...]:  # noqa: ARG002  - the same for all
        """Invite the bot, and ask."""
        return (
            SetupStep("In a channel: /invite @threadlore"),
            SetupStep("There: @threadlore What was decided lately?"),
        )

    def recognize(self, text: str) -> RecognizedText | None:
        """What Slack calls a text."""
        return recognize_text(text, KINDS)

    async def check(self, settings: Settings) -> list[AccessCheck]:
        """Who the bot is, which scopes it lacks, and whether a socket may be opened. Raises BadSetting."""
        own = SlackSettings.load(settings)
        async with aiohttp.ClientSession() as session:
            clients = ClientFactory(session, own.api_base)
            found = [] if own.client_id else await _ask(_check_bot(clients.build(own.bot_token.get_secret_value())))
            if own.mode == "socket" and not any(check.state == "unknown" for check in found):
                found += await _ask(_check_socket(clients.build(), own.app_token.get_secret_value()))
            return found


async def _ask(check: Awaitable[list[AccessCheck]]) -> list[AccessCheck]:
    """What a check finds; a refusal or no answer is a finding, too."""
    try:
        async with asyncio.timeout(CHECK_SECONDS):
            return await check
    except SetupError as error:
        return [AccessCheck("failed", str(error), error.hint)]
    except PlatformError as error:
        return [AccessCheck("unknown", str(error), "Check the network, then run `threadlore doctor`.")]
    except SLACK_ERRORS as error:
        text = f"Slack could not be asked: {type(error).__name__}."
        return [AccessCheck("unknown", text, "Check the network, then run `threadlore doctor`.")]


async def _check_bot(web: AsyncWebClient) -> list[AccessCheck]:
    with map_connect_errors(BOT_TOKEN):
        answer = await web.auth_test()
    name, team = str(answer.get("user") or ""), str(answer.get("team") or "")
    found = [AccessCheck("ok", f"Slack knows the bot as @{name} in “{team}”.")]
    if lacking := list_lacking_scopes(answer.headers):
        found.append(AccessCheck("warning", f"The app lacks the scopes {', '.join(lacking)}.", SCOPES_HINT))
    return found


async def _check_socket(web: AsyncWebClient, token: str) -> list[AccessCheck]:
    with map_connect_errors(APP_TOKEN):
        await web.apps_connections_open(app_token=token)
    return [AccessCheck("ok", "Slack lets the bot open a socket.")]
