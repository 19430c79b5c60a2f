"""The setup of a Discord application: its pages, its token, the link that invites it, and what Discord says."""

from __future__ import annotations

import asyncio
import base64
import re
from typing import TYPE_CHECKING

import aiohttp
import discord

from adapters.discord.gateway import PRIVILEGED_INTENTS, build_intents, configure_endpoints, silence_voice
from adapters.discord.guild.permissions import build_invite_url
from adapters.discord.settings import DiscordSettings
from bot.platform.setups import AccessCheck, AppVariant, Credential, RecognizedText, SetupStep, recognize_text

if TYPE_CHECKING:
    from bot.settings import Settings

_ID = re.compile(r"\d{15,20}")
CHECK_SECONDS = 10.0  # for all calls of a check
APPLICATIONS_PAGE = "https://discord.com/developers/applications"
TOKEN = Credential("discord_bot_token", "bot token", "three parts with dots between them", "Bot: Reset Token")
REFUSED = "Discord does not accept the bot token."
KINDS: tuple[tuple[str, RecognizedText], ...] = (
    (r"mfa\.[\w-]+", RecognizedText("token of a person (mfa.)", hint="Programs must not act for a person.")),
    (r"[\w-]+\.[\w-]+\.[\w-]+", RecognizedText("bot token", TOKEN.setting)),
    (r"\d{17,20}", RecognizedText("application ID", hint="It is no secret, and the token contains it.")),
    (r"[0-9a-f]{64}", RecognizedText("public key", hint="Threadlore does not use it.")),
    (r"(?=.*[A-Z_-])(?=.*\d)[\w-]{32}", RecognizedText("client secret", hint="It is for logins on the page alone.")),
    (r"https://\S*discord(app)?\.com/api/webhooks/.*", RecognizedText("address of a webhook", hint="It only posts.")),
    (r"https://\S*discord(app)?\.com/.*", RecognizedText("address of a page", hint="Open it to find the token.")),
)


def read_application_id(token: str) -> int:
    """The application id in a bot token; 0 if there is none."""
    part = token.partition(".")[0]
    try:
        text = base64.urlsafe_b64decode(part + "=" * (-len(part) % 4)).decode("ascii")
    except ValueError:
        return 0
    return int(text) if _ID.fullmatch(text) else 0


class DiscordSetup:
    """Describes the setup of an application."""

    title = "Discord"
    credentials = (TOKEN,)
    variants: tuple[AppVariant, ...] = ()

    def list_needed(self, settings: Settings) -> tuple[Credential, ...]:  # noqa: ARG002  - always the same
        """What must be set: the bot token."""
        return (TOKEN,)

    def list_first_steps(self, settings: Settings, variant: str) -> tuple[SetupStep, ...]:  # noqa: ARG002  - as above
        """Create the application, and let it read messages."""
        return (
            SetupStep("Open this page: New Application.", APPLICATIONS_PAGE),
            SetupStep(f"Bot: switch on the {PRIVILEGED_INTENTS}."),
        )

    def list_last_steps(self, settings: Settings) -> tuple[SetupStep, ...]:
        """Invite the bot, let it read a channel, and ask."""
        application = read_application_id(DiscordSettings.load(settings).bot_token.get_secret_value())
        link = build_invite_url(application) if application else ""
        text = "Open this link and choose your server." if link else "Open the link that the bot logs when it starts."
        return (
            SetupStep(text, link),
            SetupStep("In each channel that it should read: /settings setting: ingest value: on"),
            SetupStep("There: /ask question: What was decided lately?"),
        )

    def recognize(self, text: str) -> RecognizedText | None:
        """What Discord calls a text."""
        return recognize_text(text, KINDS)

    async def check(self, settings: Settings) -> list[AccessCheck]:
        """Who the bot is, and whether it may read messages and members. Raises BadSetting."""
        token = DiscordSettings.load(settings).bot_token.get_secret_value()
        configure_endpoints(settings)
        silence_voice()
        try:
            async with asyncio.timeout(CHECK_SECONDS), discord.Client(intents=build_intents()) as client:
                me = await client.http.static_login(token)
                application = await client.application_info()
        except discord.LoginFailure:
            return [AccessCheck("failed", REFUSED, f"Reset and copy it again: {APPLICATIONS_PAGE}, Bot.")]
        except (discord.DiscordException, aiohttp.ClientError, OSError, TimeoutError) as error:
            text = f"Discord could not be asked: {type(error).__name__}."
            return [AccessCheck("unknown", text, "Check the network, then run `threadlore doctor`.")]
        if not me.get("bot", False):
            return [AccessCheck("failed", "This is the token of a person.", "Programs must not act for a person.")]
        return [AccessCheck("ok", f"Discord knows the bot as {me.get('username')}."), _check_intents(application)]


def _check_intents(application: discord.AppInfo) -> AccessCheck:
    flags = application.flags
    content = flags.gateway_message_content or flags.gateway_message_content_limited
    if content and (flags.gateway_guild_members or flags.gateway_guild_members_limited):
        return AccessCheck("ok", "The bot may read messages and members.")
    hint = f"Switch on the {PRIVILEGED_INTENTS}: {APPLICATIONS_PAGE}, Bot."
    return AccessCheck("failed", "The bot may not read messages and members.", hint)
