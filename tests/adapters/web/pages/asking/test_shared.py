"""A link shows an answer to whoever may read all of its sources when they look, and to others nothing at all."""

from __future__ import annotations

import re

import pytest

from bot.platform.models import Person
from bot.store import BotStore
from engine.clock import SYSTEM_CLOCK
from tests.adapters.web.pages.asking.conftest import Visitors
from tests.support.builders import ROOF

FERRY, PERLA = "When does the ferry Gudgeon leave?", "Who bought the barge Zander?"


async def share(visitors: Visitors, person: str, question: str) -> tuple[str, str]:
    """The path of the link to an answer, and the answer's id."""
    visitors.become(person)
    answer = (await visitors.ask(question))["answer"]
    shown = (await visitors.send("/ask/share", answer=answer)).text
    again = (await visitors.send("/ask/share", answer=answer)).text
    [path] = set(re.findall(r'href="(/shared/[0-9a-f]{32})"', shown + again))
    return path, answer


async def look(visitors: Visitors, person: str, path: str) -> tuple[int, str]:
    visitors.become(person)
    page = await visitors.client.get(path)
    return page.status_code, page.text


async def test_whoever_reads_the_sources_sees_it_with_them(visitors: Visitors) -> None:
    path, _ = await share(visitors, "bob", FERRY)
    status, page = await look(visitors, "cleo", path)
    assert (status, FERRY in page, "leaves at noon" in page) == (200, True, True)
    assert ("Shared by Bob" in page, "Stop sharing" in page) == (True, False)
    assert "Stop sharing" in (await look(visitors, "bob", path))[1]


async def test_others_are_told_the_same_as_of_an_unknown_link(visitors: Visitors) -> None:
    await visitors.bot.post_indexed(visitors.attic, "dan", "Perla bought the barge Zander.")
    path, _ = await share(visitors, "dan", PERLA)
    assert (await look(visitors, "dan", path))[0] == 200
    unknown = await look(visitors, "cleo", f"/shared/{'0' * 32}")
    assert unknown[0] == 404
    assert await look(visitors, "cleo", path) == unknown
    visitors.bot.change_channel(visitors.attic, members=frozenset({"dan", "cleo"}))
    visitors.running.context.audience.invalidate(visitors.attic)
    assert "Zander" in (await look(visitors, "cleo", path))[1]
    visitors.bot.change_channel(visitors.attic, members=frozenset({"dan"}))
    visitors.running.context.audience.invalidate(visitors.attic)
    assert await look(visitors, "cleo", path) == unknown


async def test_what_goes_during_the_lookups_is_not_shown(visitors: Visitors, monkeypatch: pytest.MonkeyPatch) -> None:
    path, answer = await share(visitors, "bob", FERRY)
    fetch = visitors.bot.platform.fetch_person

    async def unshare_and_fetch(workspace: str, person: str) -> Person:
        if person == "bob":
            await visitors.bot.store.shared_answers.remove(answer)
        return await fetch(workspace, person)

    monkeypatch.setattr(visitors.bot.platform, "fetch_person", unshare_and_fetch)
    visitors.running.context.audience.invalidate(ROOF)
    assert (await look(visitors, "cleo", path))[0] == 404


async def test_it_ends_when_its_author_ends_it_and_nobody_else_can(visitors: Visitors) -> None:
    path, answer = await share(visitors, "bob", FERRY)
    visitors.become("cleo")
    for address in ("/ask/unshare", "/ask/share"):
        assert (await visitors.send(address, answer=answer)).status_code == 404
    assert path not in (await visitors.client.get("/shared")).text
    assert path in (await look(visitors, "bob", "/shared"))[1]
    assert "shows nothing" in (await visitors.send("/ask/unshare", answer=answer)).text
    for person in ("bob", "cleo"):
        assert (await look(visitors, person, path))[0] == 404
    assert path not in (await look(visitors, "bob", "/shared"))[1]


async def test_it_goes_with_a_source_and_with_whoever_asked(visitors: Visitors) -> None:
    path, _ = await share(visitors, "bob", FERRY)
    await visitors.bot.delete(visitors.message)
    assert (await look(visitors, "cleo", path))[0] == 404
    await visitors.bot.post_indexed(visitors.message.location, "cleo", "The ferry Gudgeon leaves at one.")
    path, _ = await share(visitors, "bob", FERRY)
    await visitors.bot.forget_person("bob")
    assert (await look(visitors, "cleo", path))[0] == 404


async def test_an_answer_without_sources_is_not_shared(visitors: Visitors) -> None:
    visitors.become("bob")
    end = await visitors.ask("Who painted the zeppelin?")
    assert "/ask/share" not in end["actions"]
    refused = await visitors.send("/ask/share", answer=end["answer"])
    assert refused.status_code == 422


@pytest.mark.parametrize("path", ["/shared/x", "/shared"])
async def test_nobody_sees_anything_without_a_login(visitors: Visitors, path: str) -> None:
    visitors.client.cookies.clear()
    assert (await visitors.client.get(path, headers={"Accept": "text/html"})).status_code == 303


async def test_the_table_keeps_one_link_of_an_answer(visitors: Visitors) -> None:
    store: BotStore = visitors.bot.store
    _, answer = await share(visitors, "bob", FERRY)
    first = (await store.shared_answers.list_of(visitors.message.location, "bob"))[0].id
    assert await store.shared_answers.add("other", answer, SYSTEM_CLOCK.now()) == first
    assert await store.shared_answers.add("other", "none", SYSTEM_CLOCK.now()) == ""
    await store.answers.delete(answer)
    assert await store.shared_answers.get_answer(first) == ""
