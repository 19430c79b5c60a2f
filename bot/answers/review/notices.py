"""Tell those who verified an answer, once, that a source of it changed; what takes the place of what was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import structlog

from bot import texts
from bot.answers.review.rights import check_room
from bot.errors import ChannelGone, PermissionDenied, PlatformError, PlatformUnavailable, WorkspaceGone
from bot.i18n import N_, gettext, use_language
from bot.platform.models import Card
from bot.store.models import CONTRADICTION_PREFIX, REPORT_PREFIX
from bot.texts import review as review_texts

if TYPE_CHECKING:
    from bot.context import BotContext
    from bot.platform.traits import PlatformTraits
    from bot.store import VerifiedAnswer


log = structlog.get_logger(__name__)

BATCH_SIZE = 20  # notices at once
QUOTE_REMOVED = N_("What this quoted was removed or changed. {command} shows what is current.")
COMMANDS = {REPORT_PREFIX: "report", CONTRADICTION_PREFIX: "contradictions"}


class WithdrawalNotices:
    """Sends the notices as direct messages; one that fails is sent later."""

    def __init__(self, context: BotContext) -> None:
        self._context = context
        self._store = context.store.verified_answers

    async def send_due(self) -> None:
        """Send the notices of the workspaces that this process serves."""
        unreported = await self._store.list_unreported()
        for verified in [answer for answer in unreported if self._context.serves(answer.location)][:BATCH_SIZE]:
            try:
                await self._send(verified)
            except (ChannelGone, WorkspaceGone, PermissionDenied) as error:
                log.warning("verified_answer.notice_dropped", error=type(error).__name__)
            except PlatformError as error:
                log.warning("verified_answer.notice_postponed", error=type(error).__name__)
                continue
            await self._store.record_reported(verified.id)

    async def _send(self, verified: VerifiedAnswer) -> None:
        location, person = verified.location, verified.verifier
        is_reader = await check_room(self._context, location.room, location, person)
        if is_reader is None:
            raise PlatformUnavailable("It is not known now what the verifier can read.")
        if not is_reader:
            return  # managers who can read the channel see it among unanswered questions
        platform = self._context.platform_for(location)
        link = platform.message_link(location, verified.message) if verified.message else ""
        direct = await platform.open_direct(location.workspace, person)
        with use_language(await self._context.find_person_language(location, person)):
            card = Card(review_texts.format_withdrawal(verified.verified_at, link))
        await platform.post(direct, card)


def describe_removal(answer: str, traits: PlatformTraits) -> str:
    """The sentence for an answer with this id: whoever asked may ask again; a report has a command."""
    for prefix, command in COMMANDS.items():
        if answer.startswith(prefix):
            return gettext(QUOTE_REMOVED).format(command=f"`{traits.format_command(command)}`")
    return gettext(texts.SOURCE_REMOVED)
