"""A refresh token is used once, by whichever process looks first."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from typing import Any

from slack_sdk.oauth.installation_store import Installation

from adapters.slack.install.accesses import Accesses
from adapters.slack.install.store import StoredInstallation
from bot.store.access.installations import InstallationRecord
from engine.clock import SYSTEM_CLOCK
from engine.scheduling.processes import LocalProcesses


@dataclass(slots=True)
class OneRow:
    """A store with the installation of one workspace."""

    row: StoredInstallation

    async def list_all(self) -> list[StoredInstallation]:
        return [self.row]

    async def replace(self, stored: StoredInstallation, installation: Installation) -> bool:
        if stored.record != self.row.record:
            return False
        self.row = StoredInstallation(installation, replace(self.row.record, payload="renewed"))
        return True


@dataclass(slots=True)
class SlowRotator:
    """Renews tokens as Slack does, which takes a moment; counts the refresh tokens that it was given."""

    used: list[str] = field(default_factory=list)

    async def perform_token_rotation(self, *, installation: Installation, **_: Any) -> Installation:
        self.used.append(str(installation.bot_refresh_token))
        await asyncio.sleep(0.05)
        return build_installation("new", SYSTEM_CLOCK.time() + 43_200)


def build_installation(token: str, expires_at: float) -> Installation:
    return Installation(
        user_id="U1",
        team_id="T1",
        bot_token=token,
        bot_refresh_token=f"refresh {token}",
        bot_token_expires_at=int(expires_at),
    )


async def test_two_processes_renew_a_token_once() -> None:
    old = build_installation("old", SYSTEM_CLOCK.time() + 60)
    store = OneRow(StoredInstallation(old, InstallationRecord("T1", "sealed")))
    rotator, processes = SlowRotator(), LocalProcesses()
    both = [Accesses(store, rotator, None, processes, SYSTEM_CLOCK) for _ in range(2)]  # type: ignore[arg-type]
    found = await asyncio.gather(*(access.list_all() for access in both))
    assert [result["T1"].token for result in found] == ["new", "new"]
    assert rotator.used == ["refresh old"]
