from __future__ import annotations

from bot.permissions.managers import list_correctable, room_of
from bot.permissions.resolver import AudienceResolver
from bot.platform.models import Location, Person
from bot.store import BotStore
from tests.support.clock import ManualClock
from tests.support.fake_platform import FakePlatform

HOME = Location("slack", "T1", "")
OPEN, VAULT, TALK, OWN, GONE = "slack:T1:open", "slack:T1:VAULT", "slack:T1:TALK", "slack:T1:dm:ada", "slack:T1:GONE"


async def test_managers_correct_everywhere_and_others_in_direct_messages(store: BotStore) -> None:
    platform = FakePlatform("slack", "T1")
    platform.people |= {"ada": Person("ada", "Ada"), "bob": Person("bob", "Bob", is_manager=True)}
    platform.add_channel("VAULT", "ada", "bob", kind="closed")
    platform.add_channel("TALK", "ada", "bob", kind="direct")
    audience = AudienceResolver({"slack": platform}, store, 0.0, ManualClock())
    spaces = (OPEN, VAULT, TALK, OWN, GONE)
    assert await list_correctable(audience, HOME, "ada", spaces) == {TALK, OWN}
    assert await list_correctable(audience, HOME, "bob", spaces) == {OPEN, VAULT, TALK}
    away = AudienceResolver({}, store, 0.0, ManualClock())
    assert await list_correctable(away, HOME, "bob", spaces) == frozenset()


def test_a_correction_moves_with_the_channel_that_has_a_space_of_its_own() -> None:
    assert [room_of(each) for each in (VAULT, OPEN, OWN, "console:local")] == [VAULT, "", "", ""]
