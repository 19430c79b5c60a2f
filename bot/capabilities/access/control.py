"""Check the access tokens of requests, and find what their subjects may read now."""

from __future__ import annotations

from contextlib import suppress
from datetime import timedelta
from operator import itemgetter
from typing import TYPE_CHECKING

from bot import texts
from bot.capabilities.access.tokens import generate_token, matches, parse_token
from bot.errors import (
    InvalidToken,
    NotConnected,
    NotPermitted,
    PlatformError,
    PlatformUnavailable,
    TooManyRequests,
)
from bot.permissions.askers import Quotas
from bot.permissions.audience import EMPTY_SET, ResolvedScope
from bot.permissions.managers import is_workspace_manager, list_correctable
from bot.permissions.provenance import Provenance, can_read
from bot.platform.models import Location
from bot.store import AccessToken, Subject
from engine import Scope
from engine.errors import WRITES_REFUSED

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable
    from datetime import datetime

    from bot.permissions.resolver import AudienceResolver
    from bot.platform.models import Person
    from bot.store import BotStore, Permission, UsageRow
    from engine import Clock, Usage

SPACE_PLATFORM = "space"  # in the table of usage
USE_INTERVAL = timedelta(minutes=1)  # between two records of a token's last use
LOGIN_LIFETIME = timedelta(hours=12)  # tokens of commands last whole days
LOGIN_REQUESTS_PER_MINUTE = 600
MAX_LOGINS = 10  # of one person at once, such as browsers; a further one ends the oldest
MAX_LOGIN_WORKSPACES = 20  # in which a person is looked up
LOGIN_REFUSED = "You are not a member of a workspace that this bot serves."


class AccessControl:
    """Issues access tokens, checks them, and finds what they may read.

    The scope of a person is that of their private questions, looked up for each request.
    `quotas`: those of the questions in the chat; without them only the usage is recorded. `auditors`: people who may
    see the audit log, as `PLATFORM:WORKSPACE:ID`.
    """

    def __init__(
        self,
        store: BotStore,
        clock: Clock,
        audience: AudienceResolver | None = None,
        quotas: Quotas | None = None,
        auditors: Collection[str] = (),
    ) -> None:
        self._store = store
        self._audience = audience
        self._clock = clock
        self._auditors = frozenset(auditors)
        self._quotas = quotas or Quotas(store, 0, 0, clock)

    async def create_token(
        self,
        name: str,
        subject: Subject,
        permissions: tuple[Permission, ...],
        requests_per_minute: int,
        lifetime: timedelta | None,
    ) -> tuple[AccessToken, str]:
        """Store a new token; returns it with its text, which is shown once."""
        id_, text, digest = generate_token()
        now = self._clock.now()
        expires = now + lifetime if lifetime else None
        token = AccessToken(id_, name, subject, permissions, requests_per_minute, now, expires)
        await self._store.access_tokens.add(token, digest)
        return token, text

    async def list_tokens(self) -> list[AccessToken]:
        """All tokens, in the order of their creation."""
        return await self._store.access_tokens.list_all()

    async def revoke_token(self, id_: str) -> bool:
        """Revoke a token; returns whether it existed."""
        return await self._store.access_tokens.delete(id_)

    async def log_in(
        self, platform: str, person: str, workspaces: Collection[str], *, with_guests: bool
    ) -> tuple[AccessToken, str]:
        """A token for a person of one of these workspaces, for some hours. Raises NotPermitted, PlatformError.

        Of several it is one that they manage, or the first; only those that the bot serves count. `with_guests`:
        whether people who may not read every open channel are members, too.
        """
        if self._audience is None:
            raise NotConnected(f"There is no connection to {platform}.")
        served = {channel.workspace for channel in await self._store.channels.list_joined(platform)} - {""}
        found: list[tuple[bool, str, Person]] = []
        for workspace in sorted(served.intersection(workspaces))[:MAX_LOGIN_WORKSPACES]:
            known = await self._audience.get_person(platform, workspace, person)
            if not (known.is_bot or known.is_deactivated or (known.is_guest and not with_guests)):
                found.append((not known.is_manager, workspace, known))
        if not found:
            raise NotPermitted(LOGIN_REFUSED)
        _, workspace, known = min(found, key=itemgetter(0, 1))
        permissions: tuple[Permission, ...] = ("ask", "read", "write", *(("manage",) if known.is_manager else ()))
        subject = Subject(platform, workspace, person)
        await self._end_old_logins(subject)
        return await self.create_token(known.name, subject, permissions, LOGIN_REQUESTS_PER_MINUTE, LOGIN_LIFETIME)

    async def _end_old_logins(self, subject: Subject) -> None:
        """End the expired logins of a subject, and the oldest ones, so that another one is allowed."""
        logins = [token for token in await self.list_tokens() if token.subject == subject and is_login(token)]
        live = [login for login in logins if not login.is_expired(self._clock.now())]
        kept = {login.id for login in live[-(MAX_LOGINS - 1) :]}
        for token in logins:
            if token.id not in kept:
                await self.revoke_token(token.id)

    async def log_out(self, text: str) -> None:
        """Revoke the token of a login; any other is kept. Raises InvalidToken."""
        token = await self.authenticate(text)
        if is_login(token):
            await self.revoke_token(token.id)

    async def authorize(self, text: str, *accepted: Permission) -> AccessToken:
        """The token with this text, whose use is counted; one of the `accepted` permissions is enough.

        Raises InvalidToken, NotPermitted, TooManyRequests.
        """
        token = await self.authenticate(text)
        if not {*accepted}.intersection(token.permissions):
            raise NotPermitted(f"This access token does not permit “{accepted[0]}”.")
        who = ("token", "", token.id)
        if not await self._store.recent_questions.count_if_below(who, token.requests_per_minute, self._clock.time()):
            raise TooManyRequests(f"This access token permits {token.requests_per_minute} requests a minute.")
        return token

    def is_auditor(self, subject: Subject) -> bool:
        """Whether a person may see the audit log; spaces may not."""
        return bool(subject.person) and str(subject) in self._auditors

    async def is_manager(self, subject: Subject) -> bool:
        """Whether a person manages their workspace now. Raises PlatformError if that is unknown."""
        return is_workspace_manager(await self._get_person(subject))

    async def check_active(self, subject: Subject) -> None:
        """Raise NotPermitted for a person who left the workspace, as far as that is known."""
        with suppress(PlatformError):
            if (await self._get_person(subject)).is_deactivated:
                raise NotPermitted("This account is deactivated.")

    async def _get_person(self, subject: Subject) -> Person:
        return await self.audience_of(subject).get_person(subject.platform, subject.workspace, subject.person)

    def audience_of(self, subject: Subject) -> AudienceResolver:
        """What tells who may read which channel of a person's platform. Raises NotConnected."""
        if self._audience is None:
            raise NotConnected(f"There is no connection to {subject.platform}.")
        return self._audience

    def find_audience(self, spaces: Iterable[str]) -> AudienceResolver | None:
        """What tells who reads these spaces; None for those of the terminal and of platforms that are not connected."""
        platforms = {space.partition(":")[0] for space in spaces}
        return self._audience if self._audience is not None and platforms <= self._audience.platforms.keys() else None

    async def authenticate(self, text: str) -> AccessToken:
        """The token with this text. Raises InvalidToken, with one message whatever is wrong."""
        id_, secret = parse_token(text)
        found = await self._store.access_tokens.get(id_)
        if found is None or not matches(secret, found[1]) or found[0].is_expired(self._clock.now()):
            raise InvalidToken("This access token is unknown, expired or revoked.")
        with suppress(*WRITES_REFUSED):
            await self._store.access_tokens.record_use(id_, self._clock.now(), self._clock.now() - USE_INTERVAL)
        return found[0]

    async def resolve_scope(self, subject: Subject) -> ResolvedScope:
        """What a subject may read now. Raises PlatformError if it cannot be looked up, InvalidToken if they left."""
        if subject.space:
            return ResolvedScope(Scope.of(subject.space))
        audience = self.audience_of(subject)
        person = await audience.get_person(subject.platform, subject.workspace, subject.person)
        if person.is_deactivated:
            raise InvalidToken("The person of this access token left the workspace.")
        resolved = await audience.resolve_scope(locate_subject(subject), subject.person)
        if resolved.gap == "unknown":
            raise PlatformUnavailable("What you can read could not be checked.")
        return resolved

    def get_audience_time(self) -> float:
        """The monotonic time by which changes of audiences are recorded."""
        return self._audience.clock.monotonic() if self._audience else 0.0

    async def can_read(self, subject: Subject, provenance: Provenance) -> bool:
        """Whether a subject may read all that an answer used, wherever its rooms are now; not if that is unknown."""
        if subject.space or self._audience is None:
            return True
        return await can_read(self._audience, provenance, locate_subject(subject), subject.person) is True

    async def can_read_room(self, subject: Subject, room: str) -> bool:
        """Whether a person may read a room now, in whichever space it is; not if that is unknown."""
        return await self.can_read(subject, Provenance(Scope(EMPTY_SET, frozenset({room})), {}, 0.0))

    async def list_correctable(self, subject: Subject, scope: Scope) -> frozenset[str]:
        """The spaces of a scope in which a subject may correct the graph, as a person may in the chat."""
        if subject.space:
            return scope.spaces
        if self._audience is None:
            return EMPTY_SET
        return await list_correctable(self._audience, locate_subject(subject), subject.person, scope.spaces)

    async def check_question(self, subject: Subject) -> None:
        """Count a question of a person together with those that they ask in the chat; spaces have no such limits.

        Raises TooManyRequests if they asked too many, or if their workspace has used its tokens of this day.
        """
        if subject.space:
            return
        place = locate_subject(subject)
        if not await self._quotas.count_question(place, subject.person):
            raise TooManyRequests(texts.TOO_MANY_QUESTIONS)
        if refusal := await self._quotas.check_budget(place):
            raise TooManyRequests(refusal)

    async def record_usage(self, subject: Subject, usage: Iterable[Usage], answers: int = 0) -> None:
        """Add what an answer took to the day of the person's workspace, or of the space; 1 answer if it was given."""
        await self._quotas.record_usage(locate_subject(subject), usage, answers)

    async def list_usage(self, subject: Subject, since: datetime) -> list[UsageRow]:
        """What the workspace of a person, or a space, used on each day since then."""
        place = locate_subject(subject)
        return await self._store.usage.list_days(place.platform, place.workspace, since)


def is_login(token: AccessToken) -> bool:
    """Whether a token was made by a login."""
    return token.expires_at is not None and token.expires_at - token.created_at == LOGIN_LIFETIME


def locate_subject(subject: Subject) -> Location:
    """The workspace of a person, in none of its channels; a space of the terminal is like a workspace of a platform."""
    if subject.space:
        return Location(SPACE_PLATFORM, subject.space, "")
    return Location(subject.platform, subject.workspace, "")
