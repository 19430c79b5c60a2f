"""Commands, autocomplete, menus, buttons and forms of the fake, with the deadlines and limits of the platform."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import discord
import pytest
from discord import app_commands

from tests.support.discord_server import FakeDiscord, File, Permission
from tests.support.discord_server.api_caller import open_caller
from tests.support.discord_server.people import ActionUnavailable
from tests.support.discord_server.recording_client import open_client

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


Click = discord.Interaction[Any]


@pytest.fixture
async def fake() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord() as fake:
        fake.rates.rules.clear()
        yield fake


async def test_a_deferred_answer_is_edited_and_followed_up(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada, bob = fake.channel(club, "workshop"), fake.member(club, "Ada"), fake.member(club, "Bob")
    async with open_client(fake) as client:

        @client.tree.command(name="ask", description="Ask")
        async def ask(
            click: Click,
            question: str,
            file: discord.Attachment | None = None,
            private: bool = False,  # noqa: FBT001, FBT002 - options are declared like this
        ) -> None:
            await click.response.defer(ephemeral=private, thinking=True)
            data = await file.read() if file else b""
            await click.edit_original_response(content=f"{question} {data.decode()}")
            await click.followup.send("more")

        await client.tree.sync()
        asked = await ada.enters(shop).slash("ask", question="why?", private=True, file=File("a.txt", b"because"))
        await fake.wait_for(lambda: asked.followups)
        assert asked.private
        assert fake.sees(ada, shop).by("Threadlore")[0].content == "why? because"
        assert fake.sees(bob, shop).by("Threadlore") == [fake.sees(ada, shop).posts[1]]
        asked = await ada.slash("ask", question="why?")
        await fake.wait_for(lambda: asked.followups)
        assert [post.content for post in fake.sees(bob, shop).posts] == ["more", "why?", "more"]


async def test_a_followup_straight_after_a_defer_fills_the_deferred_message(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:

        @client.tree.command(name="ask", description="Ask")
        async def ask(click: Click) -> None:
            await click.response.defer(ephemeral=True, thinking=True)
            await click.followup.send("here", ephemeral=False)

        await client.tree.sync()
        asked = await ada.enters(shop).slash("ask")
        await fake.wait_for(lambda: asked.original and asked.original.content)
        assert asked.private
        assert len(shop.messages) == 1


async def test_the_first_response_must_come_within_3_seconds_and_once(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    codes: list[int] = []

    async with open_client(fake) as client:

        @client.tree.command(name="late", description="Late")
        async def late(click: Click) -> None:
            fake.clock.advance(3.1)
            try:
                await click.response.defer()
            except discord.NotFound as refused:
                codes.append(refused.code)
            with pytest.raises(discord.NotFound) as unknown:
                await click.followup.send("x")
            codes.append(unknown.value.code)
            fake.world.interactions[str(click.id)].acked.set()

        @client.tree.command(name="twice", description="Twice")
        async def twice(click: Click) -> None:
            await click.response.send_message("once", ephemeral=True)
            click.response._response_type = None
            with pytest.raises(discord.HTTPException) as refused:
                await click.response.send_message("twice")
            codes.append(refused.value.code)

        await client.tree.sync()
        await ada.enters(shop).slash("late")
        await ada.slash("twice")
        await fake.wait_for(lambda: len(codes) == 3)
        assert codes == [10062, 10015, 40060]


async def test_nobody_there_shows_a_failure(fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.support.discord_server.interaction_client.PATIENCE", 0.05)
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_caller(fake) as call:
        await call("PUT", f"/applications/{fake.world.app.id}/commands", [{"name": "ask", "description": "Ask"}])
        asked = await ada.enters(shop).slash("ask")
        assert asked.error == "The application did not respond"
        assert "! /ask: The application did not respond" in str(fake.sees(ada, shop))
        path = f"/interactions/{asked.id}/{asked.token}/callback"
        assert await call.code("POST", path, {"type": 5}) == 10062


async def test_a_token_dies_after_15_minutes(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        clicks: list[Click] = []

        @client.tree.command(name="ask", description="Ask")
        async def ask(click: Click) -> None:
            await click.response.defer(thinking=True)
            clicks.append(click)

        await client.tree.sync()
        await ada.enters(shop).slash("ask")
        await fake.wait_for(lambda: clicks)
        fake.clock.advance(15 * 60 - 5)
        await clicks[0].edit_original_response(content="in time")
        fake.clock.advance(10)
        with pytest.raises(discord.HTTPException) as refused:
            await clicks[0].edit_original_response(content="too late")
        assert (refused.value.status, refused.value.code) == (401, 50027)
        assert fake.sees(ada, shop).last.content == "in time"


async def test_buttons_answer_privately_or_change_their_message(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada, bob = fake.channel(club, "workshop"), fake.member(club, "Ada"), fake.member(club, "Bob")
    async with open_client(fake) as client:

        class Feedback(discord.ui.View):
            @discord.ui.button(emoji="👍", custom_id="fb:+")
            async def up(self, click: Any, _: Any) -> None:
                await click.response.send_message("Thank you", ephemeral=True)

            @discord.ui.button(label="Hide", custom_id="hide")
            async def hide(self, click: Any, _: Any) -> None:
                await click.response.edit_message(content="hidden", view=None)

            @discord.ui.button(label="Off", custom_id="off", disabled=True)
            async def off(self, click: Any, _: Any) -> None: ...

        channel: Any = client.get_channel(int(shop.id))
        sent = await channel.send("answer", view=Feedback(timeout=None))
        message = shop.messages[str(sent.id)]
        await bob.clicks(message, "👍")
        assert "Thank you" in str(fake.sees(bob, shop))
        assert "Thank you" not in str(fake.sees(ada, shop))
        with pytest.raises(ActionUnavailable):
            await ada.clicks(message, "Off")
        await ada.clicks(message, "Hide")
        post = fake.sees(bob, shop).posts[0]
        assert (post.content, post.buttons) == ("hidden", ())


async def test_autocomplete_menus_and_forms(fake: FakeDiscord, monkeypatch: pytest.MonkeyPatch) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_client(fake) as client:
        names = ["Kiln", "Kayak", "Lathe"]

        async def offer(_: Click, typed: str) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=one, value=one) for one in names if one.startswith(typed)]

        @client.tree.command(name="graph", description="Graph")
        @app_commands.autocomplete(name=offer)
        async def graph(click: Click, name: str) -> None:
            await click.response.send_message(name)

        class Form(discord.ui.Modal, title="What was wrong?"):
            why: Any = discord.ui.TextInput(label="Why", custom_id="why")

            async def on_submit(self, click: Any) -> None:
                await click.response.send_message(f"noted: {self.why.value}", ephemeral=True)

        @client.tree.context_menu(name="Ask about this")
        async def about(click: Click, message: discord.Message) -> None:
            assert message.content == "the kiln is hot"
            await click.response.send_modal(Form())

        await client.tree.sync()
        assert await ada.enters(shop).autocompletes("graph", "name", "K") == ["Kiln", "Kayak"]
        opened = await ada.context_menu("Ask about this", await ada.says(shop, "the kiln is hot"))
        await ada.submits(opened, why="too hot")
        assert fake.sees(ada, shop).last.content == "noted: too hot"
        names[:] = [f"K{at}" for at in range(26)]
        monkeypatch.setattr("tests.support.discord_server.interaction_client.PATIENCE", 0.2)
        assert await ada.autocompletes("graph", "name", "K") == []
        assert fake.refusals[-1].code == 50035


async def test_guarded_commands_are_offered_to_managers_only(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop = fake.channel(club, "workshop")
    ada, eve = (
        fake.member(club, "Ada"),
        fake.member(club, "Eve", roles=[fake.role(club, "Boss", Permission.MANAGE_GUILD)]),
    )
    async with open_client(fake) as client:

        @client.tree.command(name="settings", description="Settings")
        @app_commands.default_permissions(manage_guild=True)
        async def settings(click: Click) -> None:
            assert click.permissions.manage_guild
            await click.response.send_message("set", ephemeral=True)

        await client.tree.sync(guild=None)
        with pytest.raises(ActionUnavailable):
            await ada.enters(shop).slash("settings")
        assert (await eve.enters(shop).slash("settings")).private


async def test_commands_in_threads_need_send_messages_on_the_parent(fake: FakeDiscord) -> None:
    club = fake.guild("Maker Club")
    shop, ada = fake.channel(club, "workshop"), fake.member(club, "Ada")
    async with open_caller(fake) as call:
        await call("PUT", f"/applications/{fake.world.app.id}/commands", [{"name": "ask", "description": "Ask"}])
    thread = await ada.opens_thread(await ada.says(shop, "topic"), "topic")
    fake.overwrites(shop, club.roles[club.id], deny=Permission.SEND_MESSAGES)
    with pytest.raises(ActionUnavailable, match="parent"):
        await ada.slash("ask", here=thread)
