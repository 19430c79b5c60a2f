"""Workspaces of others, of which nothing new is stored: decide which these are, and tell there why.

Slack's API terms forbid lasting copies of other organizations' data.
"""

from __future__ import annotations

from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import structlog

from adapters.slack.context import NAME
from adapters.slack.errors import SLACK_ERRORS, error_code
from bot.i18n import N_, SOURCE_LANGUAGE, gettext, match_language, use_language

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from adapters.slack.clients import ClientFactory
    from adapters.slack.install.accesses import Access
    from adapters.slack.settings import SlackSettings
    from bot.bot import Bot

log = structlog.get_logger(__name__)

HINT = "withheld"  # name of the notice to an installer
OWN, OTHERS = "THREADLORE_SLACK_OWN_WORKSPACES", "THREADLORE_SLACK_STORE_OTHER_WORKSPACES=true"
MAX_TOLD = 1000  # people who asked, since the start
EXPLANATION = N_(
    "I read, store and answer nothing in this workspace ({workspace}): it isn't one that whoever runs me named as their"
    " own, and Slack's API terms forbid lasting copies of other organizations' data. Whoever runs me can name it in"
    " `{own}`, or set `{others}` if they may store it."
)
FROM_BEFORE = N_("What I stored here before is kept until whoever runs me deletes it.")
FORGET = "threadlore forget-workspace"


@dataclass(frozen=True, slots=True)
class Ownership:
    """The workspaces and organizations, by id, that belong to whoever runs the bot.

    `stores_others`: they state that they may store what is said in those of others.
    """

    own: frozenset[str]
    stores_others: bool

    @classmethod
    def of(cls, settings: SlackSettings) -> Ownership:
        """The ownership that the settings state."""
        names = (part.strip() for part in settings.own_workspaces.split(","))
        return cls(frozenset(filter(None, names)), settings.store_other_workspaces)

    def is_own(self, team: str, access: Access | None) -> bool:
        """Whether a workspace, or the organization that it is a part of, is named."""
        ids = {team} if access is None else {team, access.installation, access.organization}
        return not self.own.isdisjoint(ids)

    def may_store(self, team: str, access: Access | None, *organizations: str) -> bool:
        """Whether anything of a workspace may be stored; `organizations`: others that it is a part of."""
        return self.stores_others or self.is_own(team, access) or not self.own.isdisjoint(organizations)


class WithheldWorkspaces:
    """The workspaces with an installation of which nothing new is stored. They are not served."""

    def __init__(self, bot: Bot, clients: ClientFactory) -> None:
        self._bot = bot
        self._clients = clients
        self._accesses: dict[str, Access] = {}
        self._stored = frozenset[str]()  # those of which something is stored from before
        self._told: dict[tuple[str, str], None] = {}
        bot.supervisor.add_problem_source(self._describe)

    def __contains__(self, team: object) -> bool:
        return team in self._accesses

    def hold(self, team: str, access: Access) -> None:
        """Store nothing more of a workspace from now on; its installer is told once."""
        if team not in self._accesses:
            log.warning("slack.workspace_withheld", workspace=team, hint=f"Name it in {OWN}, or set {OTHERS}.")
            self._bot.supervisor.spawn("tell an installer", self._tell_installer(team, access))
        self._accesses[team] = access

    def release(self, team: str) -> None:
        """Forget a workspace that is served, or that the app left."""
        self._accesses.pop(team, None)

    async def update_stored(self) -> None:
        """Look of which of them something is stored from before. Raises StoreError."""
        known = await self._bot.list_workspaces(NAME) if self._accesses else set[str]()
        self._stored = frozenset(known & self._accesses.keys())

    def find(self, teams: Collection[str]) -> str:
        """The first of these workspaces that is withheld, "" for none."""
        return next((team for team in teams if team in self._accesses), "")

    def explain(self, team: str) -> str:
        """Why nothing is stored of a workspace."""
        with self._language():
            reason = gettext(EXPLANATION).format(workspace=team, own=OWN, others=OTHERS)
            return f"{reason} {gettext(FROM_BEFORE)}" if team in self._stored else reason

    async def answer(self, team: str, event: Mapping[str, Any]) -> None:
        """Tell somebody who mentions the bot or writes to it, alone and once, why it does not answer."""
        person, channel = str(event.get("user") or ""), str(event.get("channel") or "")
        is_question = event.get("type") == "app_mention" or event.get("channel_type") == "im"
        if not (is_question and person and channel) or event.get("bot_id") or (team, person) in self._told:
            return
        self._told[team, person] = None
        if len(self._told) > MAX_TOLD:
            del self._told[next(iter(self._told))]
        await self._call(team, "chat_postEphemeral", channel=channel, user=person, text=self.explain(team))

    async def _tell_installer(self, team: str, access: Access) -> None:
        if not access.installer or not await self._bot.store.hints.record_if_new(NAME, team, HINT):
            return
        await self.update_stored()
        opened = await self._call(team, "conversations_open", users=access.installer)
        direct = str((opened.get("channel") or {}).get("id") or "")
        if not direct or not await self._call(team, "chat_postMessage", channel=direct, text=self.explain(team)):
            await self._bot.store.hints.delete(NAME, team, HINT)

    async def _call(self, team: str, method: str, **arguments: str) -> Mapping[str, Any]:
        """Call Slack with the token of a workspace; empty if that failed."""
        access = self._accesses.get(team)
        if access is None:
            return {}
        client = self._clients.build(access.token, team if access.identity else "")
        try:
            response: Mapping[str, Any] = (await getattr(client, method)(**arguments)).data
        except SLACK_ERRORS as error:
            log.warning("slack.notice_failed", workspace=team, error=error_code(error))
            return {}
        return response

    @contextmanager
    def _language(self) -> Iterator[None]:
        with use_language(match_language(self._bot.settings.language) or SOURCE_LANGUAGE):
            yield

    def _describe(self) -> Sequence[str]:
        if not self._accesses:
            return []
        names = ", ".join(sorted(self._accesses))
        found = [f"Nothing new is stored of these workspaces: {names}. Name yours in {OWN}, or set {OTHERS}."]
        if stored := sorted(self._stored & self._accesses.keys()):
            commands = ", ".join(f"`{FORGET} {NAME}:{team}`" for team in stored)
            found.append(
                f"Of these workspaces data from before is still stored: {', '.join(stored)}. {commands} deletes it."
            )
        return found
