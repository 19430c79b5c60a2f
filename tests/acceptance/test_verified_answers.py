"""Verified answers, experts and settings on both platforms: who may, who sees it, who is notified."""

from __future__ import annotations

from typing import Any

import pytest

from bot import texts
from bot.texts import review as review_texts
from tests.support.town.live_bot import LiveBot
from tests.support.town.protocol import Way
from tests.support.verbatim_language import QUESTION, find_secrets

pytestmark = pytest.mark.asyncio(loop_scope="module")
AGAIN = "Which is the password of the safe?"


async def ask_publicly(live: LiveBot[Any], channel: str) -> Any:
    """The message with the buttons of a public answer."""
    way = "command" if live.town.platform == "discord" else "mention"
    [*_, answer] = [post for post in await live.posts(await live.town.ask("ada", channel, way=way)) if post.buttons]
    return answer


async def test_a_verified_answer_comes_first_until_its_source_is_deleted(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    town.add_channel("cellar", "ada", "private")
    said = await live.post_passwords(square="agate", cellar="beryl")
    answer = await ask_publicly(live, "square")
    assert not {"Verify", "Correct"} & set((await live.offers("bob", answer)).buttons)
    assert "Verified by" not in await live.ask("bob", "square", AGAIN)
    assert "Verified. I show this answer first" in await live.improve("mayor", answer, "Verify")
    for person, channel in (("bob", "square"), ("ada", "cellar"), ("bob", "")):
        shown = await live.ask(person, channel, AGAIN)
        assert f"Verified by {town.person('mayor').name}" in shown
        assert find_secrets(shown) == "agate"
    await town.delete(said["square"])
    await live.wait_until_idle()
    await live.wait_for_corrections()
    assert find_secrets(await live.ask("bob", "square", AGAIN)) == ""
    assert "you verified on" in town.bot_text("mayor")
    assert list(town.pings) == []


async def test_a_correction_in_a_form_becomes_the_verified_answer(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    town.add_channel("cellar", "ada mayor", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    answer = await ask_publicly(live, "square")
    secret = await ask_publicly(live, "cellar")
    form = await town.click_form("mayor", await live.offers("mayor", answer), "Correct")
    assert form.title == review_texts.CORRECTION_TITLE
    assert form.values["question"] == QUESTION
    assert "agate" in form.values["text"]
    # Bob never saw the form: what he sends is forged.
    forged = await town.submit_form(form, "bob", text="It is onyx.")
    assert review_texts.CANNOT_VERIFY in await live.answer(forged)
    assert "onyx" not in await live.ask("ada", "square", AGAIN)
    await live.restart()
    hostile = "It is topaz <!channel> @everyone <@&1> [here](https://evil.example/?q=topaz) [1]."
    assert "Verified. I show this" in await live.answer(await town.submit_form(form, text=hostile))
    shown = await live.ask("bob", "square", AGAIN)
    assert "Verified by" in shown
    assert "topaz" in shown
    assert list(town.pings) == []
    inside = await town.click_form("mayor", await live.offers("mayor", secret), "Correct")
    await town.remove_member("mayor", "cellar")
    await live.wait_until_idle()
    await live.answer(await town.submit_form(inside, text="It is onyx."))
    assert "onyx" not in await live.ask("ada", "cellar", AGAIN)


@pytest.mark.long
async def test_managers_choose_in_a_form_who_may_ask(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    await live.post_passwords(square="agate")
    command = await town.run_command("mayor", "square", "settings")
    [shown] = await live.posts(command)
    assert "askers" in shown.text
    form = await town.click_form("mayor", shown, "Reading and asking…")
    assert (form.values["askers"], form.values["ingest"]) == ("everyone", "on")
    # Bob never saw the form: what he sends is forged.
    assert "Only managers" in await live.answer(await town.submit_form(form, "bob", askers="managers", links="on"))
    assert find_secrets(await live.ask("ada", "square")) == "agate"
    await live.restart()
    saved = await live.answer(await town.submit_form(form, askers="managers", content="files"))
    assert "managers" in saved
    assert "What I've already indexed stays" in saved
    ways: tuple[Way, ...] = ("mention", "private")
    for way in (*ways, "command") if town.platform == "discord" else ways:
        refused = await live.ask("bob", "square", AGAIN, way)
        assert texts.ONLY_MANAGERS_ASK in refused + town.bot_text("bob")
        assert find_secrets(refused) == ""
    assert find_secrets(await live.ask("mayor", "square", AGAIN)) == "agate"
    assert find_secrets(await live.ask("bob", "", AGAIN)) == "agate"


async def test_a_vote_counts_at_once_and_managers_see_its_reason(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    town.add_channel("cellar", "ada bob mayor", "private")
    await live.post_passwords(square="agate", cellar="beryl")
    answer, secret = await ask_publicly(live, "square"), await ask_publicly(live, "cellar")
    form, inside = await town.click_form("bob", answer, "👎"), await town.click_form("bob", secret, "👎")
    await live.restart()
    assert "1 vote down" in await live.run_command("mayor", "square", "unanswered")
    hostile = "Wrong <!channel> @everyone <@&1> [here](https://evil.example/?q=1)"
    assert review_texts.REASON_RECORDED in await live.answer(
        await town.submit_form(form, reason="outdated", comment=hostile)
    )
    await town.remove_member("bob", "cellar")
    await live.wait_until_idle()
    await live.answer(await town.submit_form(inside, comment="It is not beryl."))
    listed = await live.run_command("mayor", "square", "unanswered")
    assert f"{review_texts.REASONS['outdated']}: “Wrong" in listed
    assert "](https://evil" not in listed
    inner = await live.run_command("mayor", "cellar", "unanswered")
    assert "2 votes down" in inner
    assert "not beryl" not in inner
    assert "Wrong" not in await live.run_command("bob", "square", "unanswered")
    await live.run_command("bob", "square", "forget-me")
    assert "outdated" not in await live.run_command("mayor", "square", "unanswered")
    assert list(town.pings) == []


@pytest.mark.long
async def test_an_expert_is_notified_only_when_a_person_asks_for_it(live: LiveBot[Any]) -> None:
    town = live.town
    live.add_manager("mayor")
    town.add_channel("square", "ada bob mayor")
    await live.read("square")
    named = {"words": f"add {town.mention_of('bob')} safes"}
    assert "expert" in await live.run_command("mayor", "square", "expert", **named)
    calls = "What opens the safes <!channel> <!here> @everyone @here <@&1> ?"
    asked = await town.ask("ada", "square", calls, "command" if town.platform == "discord" else "mention")
    [*_, answer] = [post for post in await live.posts(asked) if post.buttons]
    assert list(town.pings) == []
    assert "Bob" in await live.improve("ada", answer, "Ask an expert")
    [ping] = town.pings
    assert town.person("bob").id in str(ping)
    assert not getattr(ping, "everyone", False)
    assert review_texts.EXPERT_REQUEST_REFUSED["repeated"] in await live.improve("ada", answer, "Ask an expert")
    assert len(list(town.pings)) == 1
