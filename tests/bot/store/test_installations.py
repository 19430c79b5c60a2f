from __future__ import annotations

from bot.store import BotStore
from bot.store.access.installations import InstallationRecord

WORKSPACE, ORGANIZATION = InstallationRecord("T1", "locked 1"), InstallationRecord("E1", "locked 2")


async def test_installations_are_kept_by_platform_and_workspace(store: BotStore) -> None:
    table = store.installations
    for each in (WORKSPACE, ORGANIZATION, InstallationRecord("T2", "locked 3"), InstallationRecord("T1", "newer")):
        await table.save("slack", each)
    await table.delete("slack", "T2")
    assert await table.list_all("slack") == [ORGANIZATION, InstallationRecord("T1", "newer")]
    assert await table.list_all("discord") == []


async def test_a_payload_is_replaced_only_if_nobody_else_did(store: BotStore) -> None:
    await store.installations.save("slack", WORKSPACE)
    assert await store.installations.replace("slack", WORKSPACE, "rotated")
    assert not await store.installations.replace("slack", WORKSPACE, "rotated twice")
    assert [each.payload for each in await store.installations.list_all("slack")] == ["rotated"]


async def test_a_state_is_known_until_it_expires(store: BotStore) -> None:
    states = store.installation_states
    for _ in range(2):
        await states.add("s1", 600.0, 0.0)
    assert [await states.contains("s1", 599.0), await states.contains("s1", 600.0)] == [True, False]
    assert not await states.contains("unknown", 0.0)
    await states.add("s2", 1200.0, 600.0)
    assert not await states.contains("s1", 0.0)
