from __future__ import annotations

import pytest

from tests.support.discord_rules.club import EPHEMERAL, Club, buttons
from tests.support.discord_server import Permission
from tests.support.discord_server.people.client import ActionUnavailable


async def test_a_first_response_is_in_time_once_and_of_a_fitting_type(
    club: Club, monkeypatch: pytest.MonkeyPatch
) -> None:
    used, hook = await club.respond(club.ada)
    callback = f"/interactions/{used.id}/{used.token}/callback"
    assert await club.api.code("POST", callback, {"type": 5}) == 40060
    assert await club.api.code("POST", f"/interactions/{used.id}/x/callback", {"type": 5}) == 10062
    monkeypatch.setattr("tests.support.discord_server.people.client.PATIENCE_SECONDS", 0.05)
    used, hook = await club.respond(club.ada, kind=8)
    assert club.api.status == 400
    assert used.error == "The application did not respond"
    assert "! /ask: The application did not respond" in str(club.fake.sees(club.ada, club.shop))
    callback = f"/interactions/{used.id}/{used.token}/callback"
    assert await club.api.code("POST", callback, {"type": 5}) == 10062
    assert await club.api.code("POST", hook, {"content": "x"}) == 10015
    used.error = ""
    club.fake.clock.advance(3.1)
    assert await club.api.code("POST", callback, {"type": 5}) == 10062


async def test_a_deferred_response_is_filled_followed_up_and_over_after_15_minutes(club: Club) -> None:
    used, hook = await club.respond(club.ada, flags=EPHEMERAL)
    assert (used.private, club.fake.sees(club.ada, club.shop).last.thinking) == (True, True)
    assert await club.api.code("POST", hook, {"content": ""}) == 50006
    await club.api("POST", hook, {"content": "filled"})
    await club.api("POST", hook, {"content": "for all"})
    assert [post.content for post in club.fake.sees(club.ada, club.shop).posts] == ["filled", "for all"]
    assert [post.content for post in club.fake.sees(club.bob, club.shop).posts] == ["for all"]
    assert await club.api.code("PATCH", f"{club.path}/{used.original.id}", {"content": "x"}) == 10008
    club.fake.clock.advance(15 * 60 - 5)
    assert await club.api.code("PATCH", f"{hook}/messages/@original", {"content": "in time"}) == 0
    assert await club.api.code("DELETE", f"{hook}/messages/{used.followups[0].id}") == 0
    assert await club.api.code("PATCH", f"{hook}/messages/{used.followups[0].id}", {"content": "x"}) == 10008
    club.fake.clock.advance(10)
    assert await club.api.code("PATCH", f"{hook}/messages/@original", {"content": "too late"}) == 50027
    assert (club.api.status, club.fake.sees(club.ada, club.shop).last.content) == (401, "in time")


async def test_people_do_only_what_their_client_offers(club: Club) -> None:
    fake, ada, bob = club.fake, club.ada, club.bob
    used, _ = await club.respond(ada, kind=4, content="x", **buttons({"disabled": True}))
    board = fake.channel(club.guild, "board", only=[ada])
    secret = await ada.says(board, "the budget is 900")
    thread = await ada.opens_thread(await ada.says(club.shop, "topic"), "topic")
    assert fake.sees(bob, board).hidden
    for unavailable in [
        bob.says(board, "hello"),
        bob.edits(secret, "changed"),
        bob.deletes(secret),
        bob.clicks(secret, "x"),
        ada.clicks(used.original, "x"),
        ada.clicks(used.original, "y"),
        ada.slash("nothing", here=club.shop),
        ada.slash("settings", here=club.shop),
        ada.slash("learn", here=fake.dm(ada)),
        ada.slash("ask", here=club.shop),
        ada.slash("ask", here=club.shop, question="x", other="y"),
        ada.slash("mode", here=club.shop, mode="other"),
        ada.autocompletes("ask", "question", "w", here=club.shop),
    ]:
        with pytest.raises(ActionUnavailable):
            await unavailable
    everyone = club.guild.roles[club.guild.id]
    fake.overwrites(club.shop, everyone, deny=Permission.SEND_MESSAGES)
    with pytest.raises(ActionUnavailable, match="parent"):
        await ada.slash("ask", here=thread, question="why?")
    fake.overwrites(club.shop, everyone, deny=Permission.USE_APPLICATION_COMMANDS)
    with pytest.raises(ActionUnavailable, match="may not use commands"):
        await ada.slash("ask", here=club.shop, question="why?")
    fake.archives(thread)
    with pytest.raises(ActionUnavailable, match="archived"):
        await ada.slash("ask", here=thread, question="why?")
    fake.overwrites(club.shop, ada, deny=Permission.READ_MESSAGE_HISTORY)
    assert fake.sees(ada, club.shop).posts == ()


async def test_a_screen_shows_names_replies_buttons_reactions_and_threads(club: Club) -> None:
    crew = club.fake.role(club.guild, "Crew")
    asked = await club.ada.says(club.shop, f"<@{club.fake.world.app.id}> what of <#{club.shop.id}>, <@&{crew.id}>?")
    reference = {"message_id": asked.id}
    sent = await club.post("All is well", message_reference=reference, **buttons({"label": "Why"}))
    await club.api("PUT", f"{club.path}/{asked.id}/reactions/✅/@me")
    await club.api("POST", f"{club.path}/{asked.id}/threads", {"name": "What of it"})
    await club.api("PATCH", f"{club.path}/{sent['id']}", {"content": "All is very well"})
    assert str(club.fake.sees(club.ada, club.shop)).partition("\nThreadlore [APP]: What")[0] == (
        "#shop\n"
        "Ada: @Threadlore what of #shop, @Crew?\n"
        "    ✅ 1\n"
        "    └ thread: What of it\n"
        "  ↱ Ada: @Threadlore what of #shop, @Crew?\n"
        "Threadlore [APP]: All is very well (edited)\n"
        "    [Why]"
    )
