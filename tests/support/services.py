"""The services of a process with a bot's database, beside which no platform is connected."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.capabilities.deps import BotParts, Deps, RunningParts
from bot.context import BotContext
from bot.ingest.service import IngestService
from bot.permissions.resolver import AudienceResolver
from tests.support.plain_settings import plain_settings

if TYPE_CHECKING:
    from bot.capabilities.access.control import AccessControl
    from bot.context import EngineContext
    from bot.store import BotStore


def build_deps(context: EngineContext, store: BotStore, access: AccessControl) -> Deps:
    """What requests need, with this access control."""
    settings = plain_settings(data_dir=context.engine.data_dir.path)
    audience = AudienceResolver({}, store, 0.0, context.clock)
    ingest = IngestService(BotContext(context, store, audience, {}, settings, context.clock))
    return Deps(context, RunningParts(BotParts(store, lambda: ingest, access)))
