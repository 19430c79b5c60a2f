"""Cache the names of user groups; empty without the scope `usergroups:read`."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import structlog

from adapters.slack.api.errors import SLACK_ERRORS, error_code

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from slack_sdk.web.async_client import AsyncWebClient

log = structlog.get_logger(__name__)

CACHE_SECONDS = 3600.0  # also after a refusal
RETRY_SECONDS = 60.0  # before another listing for a group that is not in the list


class UserGroups:
    """The user groups of a workspace."""

    def __init__(self, client: AsyncWebClient, clock: Callable[[], float] = time.monotonic) -> None:
        self._client = client
        self._clock = clock
        self._names: Mapping[str, str] = {}
        self._listed_at = -CACHE_SECONDS
        self._lock = asyncio.Lock()

    async def get_names(self, ids: Collection[str]) -> Mapping[str, str]:
        """The names of groups; unknown ones are left out."""
        if ids:
            async with self._lock:
                has_unknown = bool(self._names) and not self._names.keys() >= set(ids)
                if self._clock() - self._listed_at >= (RETRY_SECONDS if has_unknown else CACHE_SECONDS):
                    await self._list()
        return {id_: self._names[id_] for id_ in ids if id_ in self._names}

    async def _list(self) -> None:
        self._listed_at = self._clock()
        try:
            response = await self._client.usergroups_list(include_disabled=True)
        except SLACK_ERRORS as error:
            log.info("slack.user_groups_list_failed", error=error_code(error))
            return
        groups = response.get("usergroups") or ()
        self._names = {str(each["id"]): str(each.get("handle") or each.get("name") or "") for each in groups}
