"""Tokens are encrypted at rest, keys can be changed, and a row is valid for its own workspace alone."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from slack_bolt.error import BoltError
from slack_sdk.oauth.installation_store import Installation

from adapters.slack.install.store import STATE_SECONDS, InstallationStore, StateStore, TokenCipher
from bot.errors import BadSetting
from bot.store import BotStore
from bot.store.access.installations import InstallationRecord
from engine.clock import SYSTEM_CLOCK
from engine.errors import StoreError
from tests.support.clock import ManualClock
from tests.support.engine_fixture import find_files_containing

OLD, NEW = Fernet.generate_key().decode(), Fernet.generate_key().decode()
TOKENS = ("xoxe.xoxb-1-the-token", "xoxe-1-the-refresh-token")


def installation(team: str | None = "T1", **facts: object) -> Installation:
    own = {"bot_token": TOKENS[0], "bot_refresh_token": TOKENS[1], "bot_token_expires_at": 1_800_000_000}
    known = {"app_id": "A1", "team_id": team, "team_name": "Ours", "bot_id": "B1", "bot_user_id": "U1", "user_id": "U9"}
    return Installation(**{**own, **known, "bot_scopes": ["chat:write"], **facts})  # type: ignore[arg-type]


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[BotStore]:
    async with BotStore.open(tmp_path / "bot.db", SYSTEM_CLOCK) as opened:
        yield opened


def open_store(store: BotStore, *keys: str) -> InstallationStore:
    return InstallationStore(store.installations, TokenCipher(keys))


async def test_an_installation_is_read_as_it_was_saved_without_tokens_of_users(store: BotStore) -> None:
    saved = open_store(store, OLD)
    await saved.async_save(installation(user_token="xoxp-of-a-person"))
    [found] = await saved.list_all()
    assert vars(found.installation) == vars(installation(installed_at=found.installation.installed_at))


async def test_no_token_is_in_the_files(store: BotStore, tmp_path: Path) -> None:
    await open_store(store, OLD).async_save(installation(team="T-IN-THE-FILE"))
    assert find_files_containing(tmp_path, "T-IN-THE-FILE")
    for secret in (*TOKENS, OLD, "Ours"):
        assert not find_files_containing(tmp_path, secret)


async def test_a_row_of_a_later_version_hides_no_other(store: BotStore) -> None:
    saved, cipher = open_store(store, OLD), TokenCipher([OLD])
    await saved.async_save(installation())
    later = {"team_id": "T2", "bot_token": "xoxb-2", "user_id": "U2", "mood": "sunny"}
    for team, payload in (("T2", json.dumps(later)), ("T3", "[]"), ("T4", "{"), ("T5", '{"user_id": 1}')):
        await store.installations.save("slack", InstallationRecord(team, cipher.encrypt(payload)))
    assert [each.installation.team_id for each in await saved.list_all()] == ["T1", "T2"]


async def test_a_new_key_reads_old_rows_and_encrypts_them_again(store: BotStore) -> None:
    await open_store(store, OLD).async_save(installation())
    both = open_store(store, NEW, OLD)
    assert [each.installation.bot_token for each in await both.list_all()] == [TOKENS[0]]
    assert await open_store(store, NEW).list_all() == []
    await both.reencrypt()
    [row] = await store.installations.list_all("slack")
    assert [each.installation.bot_token for each in await open_store(store, NEW).list_all()] == [TOKENS[0]]
    await both.reencrypt()
    assert await store.installations.list_all("slack") == [row]


async def test_a_row_that_was_copied_to_another_workspace_is_not_read(store: BotStore) -> None:
    opened = open_store(store, OLD)
    await opened.async_save(installation("T1"))
    [row] = await store.installations.list_all("slack")
    await store.installations.save("slack", InstallationRecord("T2", row.payload))
    await store.installations.save("slack", InstallationRecord("T3", row.payload[:-8] + "AAAAAAA="))
    assert [each.record.workspace for each in await opened.list_all()] == ["T1"]


async def test_an_organization_has_an_installation_beside_those_of_its_workspaces(store: BotStore) -> None:
    opened = open_store(store, OLD)
    await opened.async_save(installation("T1", enterprise_id="E1"))
    await opened.async_save(installation(None, enterprise_id="E1", is_enterprise_install=True))
    assert [each.record.workspace for each in await opened.list_all()] == ["E1", "T1"]
    await opened.delete("E1")
    assert [each.record.workspace for each in await opened.list_all()] == ["T1"]


async def test_tokens_that_another_process_renewed_are_not_overwritten(store: BotStore) -> None:
    opened = open_store(store, OLD)
    await opened.async_save(installation())
    [read] = await opened.list_all()
    assert await opened.replace(read, installation(bot_token="xoxb-2"))
    assert not await opened.replace(read, installation(bot_token="xoxb-3"))
    assert [each.installation.bot_token for each in await opened.list_all()] == ["xoxb-2"]


class FailingTable:
    async def save(self, *_: object) -> None:
        raise StoreError("The disk is away.")


async def test_a_failing_database_is_reported_as_the_library_expects() -> None:
    with pytest.raises(BoltError, match="disk"):
        await InstallationStore(FailingTable(), TokenCipher([OLD])).async_save(installation())  # type: ignore[arg-type]


async def test_states_are_unguessable_and_accepted_once(store: BotStore) -> None:
    states = StateStore(store.installation_states, TokenCipher([OLD]), clock := ManualClock())
    first, second = await states.async_issue(), await states.async_issue()
    assert first != second
    assert [await states.async_consume(each) for each in (first, second)] == [True, True]
    await states.spend(first)
    assert [await states.async_consume(each) for each in (first, second)] == [False, True]
    clock.advance(STATE_SECONDS - 1)
    assert await states.async_consume(second)
    clock.advance(2)
    assert not await states.async_consume(second)


async def test_only_what_was_issued_is_a_state(store: BotStore) -> None:
    cipher = TokenCipher([OLD])
    states = StateStore(store.installation_states, cipher, ManualClock())
    other = StateStore(store.installation_states, TokenCipher([NEW]), ManualClock())
    forged = [await other.async_issue(), (await states.async_issue())[:-1], cipher.encrypt("x"), "", "é", "A" * 10**6]
    assert [await states.async_consume(each) for each in forged] == [False] * len(forged)


@pytest.mark.parametrize("keys", [[], ["short"], [OLD, "not a key"]])
def test_missing_and_malformed_keys_are_explained(keys: list[str]) -> None:
    with pytest.raises(BadSetting, match="THREADLORE_SLACK_ENCRYPTION_KEYS") as caught:
        TokenCipher(keys)
    assert "generate_key" in caught.value.hint
    assert not any(key in str(caught.value) for key in keys)
