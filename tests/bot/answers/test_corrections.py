"""Answers whose sources are edited or removed: what is stored loses the words, and what is posted is replaced."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from bot import texts
from bot.answers.corrections import BURST, EVERY, GIVEN_UP, AnswerCorrector
from bot.answers.draft import Draft
from bot.answers.request import answer_id, heard
from bot.answers.sources.graph_evidence import note_facts
from bot.errors import PlatformError, Withheld
from bot.ingest.documents import Shelf
from bot.ingest.sync.retention import Retention
from bot.platform.events import Changed, Deleted, Edited, Gone, Unshared
from engine.models import Condensed, Context, EntityRow, Question, Scope
from engine.storage.ledger.queries.provenance import Stating
from tests.support.asking import Speaker, asking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Awaitable, Callable
    from pathlib import Path

    from bot.platform.models import Message, Place
    from bot.store import Stored
    from tests.support.asking import Asking
    from tests.support.fake_platform import Written

    Removal = Callable[[Asking, Message], Awaitable[object]]

ASKED = "When do the Tiles come?"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[Asking]:
    async with asking(tmp_path / "home") as opened:
        yield opened


@pytest.fixture
async def roof(home: Asking) -> Place:
    return await home.joined("ROOF", "ada", "bob")


@pytest.fixture
async def tiles(home: Asking, roof: Place) -> Message:
    said = await home.say(roof, "ada", "The Tiles come on Monday.")
    await home.learnt()
    return said


async def corrected(home: Asking, now: float | None = None) -> None:
    """The corrector looks once."""
    await (AnswerCorrector(home.house, lambda: now) if now else AnswerCorrector(home.house)).run()


async def stored(home: Asking, reply: Written) -> Stored:
    found = await home.house.store.answers.get(reply.target.answer)
    assert found is not None
    return found


async def forget_message(home: Asking, message: Message) -> None:
    await home.listening.forget_message(message.place, message.id)


async def forget_document(home: Asking, message: Message) -> None:
    await home.listening.forget_document(f"{message.place.room}:window:{message.id}")


async def forget_person(home: Asking, message: Message) -> None:
    await home.listening.forget_person("slack", "T1", message.author)


async def leave(home: Asking, message: Message) -> None:
    await home.listening.take(Gone(message.place))


async def edit(home: Asking, message: Message) -> None:
    await home.edit(message, "The Tiles come on Thursday.")


async def edit_while_away(home: Asking, message: Message) -> None:
    home.platform.edit(message, "The Tiles come on Thursday.")
    await home.listening.catch_up("slack")
    await home.listening.past()


async def age(home: Asking, message: Message) -> None:
    later = replace(home.house, settings=home.house.settings.model_copy(update={"retention_days": 1}))
    await Retention(later, Shelf(later)).forget_old(message.time.replace(year=2027))


@pytest.mark.parametrize(
    "remove",
    [edit, edit_while_away, lambda home, said: home.delete(said), forget_message, forget_document, forget_person, age],
)
async def test_a_posted_answer_is_replaced_once_its_source_changed(
    home: Asking, roof: Place, tiles: Message, remove: Removal
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    assert "Monday" in reply.text
    await remove(home, tiles)
    await corrected(home)
    assert (
        reply.text
        == texts.SOURCE_REMOVED
        == "A source of this answer was removed or changed. Ask again for a current answer."
    )
    assert await home.house.store.corrections.due(2e10, ("slack",), 9) == []


async def test_so_it_is_where_its_channel_was_left(home: Asking, roof: Place, tiles: Message) -> None:
    hall = await home.joined("HALL", "bob")
    reply = await home.ask(hall, "bob", ASKED)
    await leave(home, tiles)
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_and_where_its_channel_turned_private(home: Asking, roof: Place, tiles: Message) -> None:
    hall = await home.joined("HALL", "bob")
    elsewhere, there = await home.ask(hall, "bob", ASKED), await home.ask(roof, "bob", ASKED)
    for kind in ("closed", "open", "closed"):
        home.platform.change("ROOF", kind=kind)
        await home.listening.take(Changed(roof))
        await corrected(home)
    assert elsewhere.text == texts.SOURCE_REMOVED
    assert (await stored(home, elsewhere)).text == ""
    assert "Monday" in there.text


async def test_a_move_that_hides_nothing_corrects_nothing(home: Asking, roof: Place, tiles: Message) -> None:
    home.platform.change("ROOF", kind="closed")
    await home.listening.take(Changed(roof))
    direct = home.platform.open("D1", "ada", kind="direct")
    reply = await home.ask(direct, "ada", ASKED)
    assert "Monday" in reply.text
    home.platform.change("ROOF", kind="open")
    await home.listening.take(Changed(roof))
    await corrected(home)
    assert "Monday" in reply.text


async def test_a_file_that_was_taken_back_corrects_too(home: Asking, roof: Place) -> None:
    upload = home.platform.upload("notes.txt", b"The Nails come on Friday, says Mina.")
    said = home.platform.say(roof, "ada", "", uploads=(upload,))
    await home.listening.filing.file(said)
    await home.learnt()
    reply = await home.ask(roof, "bob", "When do the Nails come?")
    assert "Friday" in reply.text
    await home.listening.take(Unshared(roof, (upload.id,)))
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_what_is_stored_loses_answer_and_question(
    home: Asking, roof: Place, tiles: Message, tmp_path: Path
) -> None:
    reply = await home.ask(roof, "bob", "Do the Tiles come on Monday?")
    await home.edit(tiles, "The Tiles come on Thursday.")
    found = await stored(home, reply)
    assert (found.state, found.text, found.question, found.sources) == ("blanked", "", "", ())
    with closing(sqlite3.connect(tmp_path / "home" / "bot.db")) as connection:
        assert "Monday" not in "\n".join(connection.iterdump())


async def test_neither_comes_back_as_history(home: Asking, roof: Place, tiles: Message) -> None:
    reply = await home.ask(roof, "bob", "Do the Tiles come on Monday?")
    thread = replace(roof, thread=reply.target.message)
    await home.edit(tiles, "The Tiles come on Thursday.")
    home.language.prompts.clear()
    await home.ask(thread, "bob", "And the Nails, do they come with the Tiles?")
    for prompt in home.language.prompts:
        assert "Monday" not in "".join(turn.text for turn in prompt.history)


@pytest.mark.parametrize(
    "change",
    [
        lambda home, said: home.listening.take(Edited(home.platform.unfurl(said))),
        lambda home, said: home.edit(said, "  The Tiles  come on Monday. "),
        lambda home, said: home.listening.take(Edited(said)),
    ],
)
async def test_an_edit_that_changes_nothing_leaves_the_answer(
    home: Asking, roof: Place, tiles: Message, change: Removal
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    await change(home, tiles)
    await corrected(home)
    assert "Monday" in reply.text
    assert (await stored(home, reply)).state == "done"


@pytest.mark.parametrize("change", [edit, lambda home, said: home.delete(said)])
async def test_a_neighbor_that_was_not_used_may_change(home: Asking, roof: Place, change: Removal) -> None:
    home.language.reply = ("They come on Monday [1].",)
    await home.say(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.say(roof, "bob", "Somebody has seen the Cat?")
    await home.learnt()
    reply = await home.ask(roof, "bob", ASKED)
    assert "Monday" in reply.text
    assert "Cat" not in reply.text
    await change(home, neighbor)
    await corrected(home)
    assert "Monday" in reply.text
    found = await stored(home, reply)
    assert found.sources
    assert (found.text, found.question) == ("", ""), "a model may have retold what it was shown"


@pytest.mark.parametrize("change", [edit, lambda home, said: home.delete(said), forget_message])
@pytest.mark.parametrize(
    "told",
    [
        "A feline vanished [1]. Ein Tier wird seit gestern gesucht.",
        "Quelqu'un cherche son animal de compagnie.",
        "Lundi.",
    ],
)
async def test_a_retelling_that_cites_nothing_counts_as_used(
    home: Asking, roof: Place, change: Removal, told: str
) -> None:
    home.language.reply = (told,)
    await home.say(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.say(roof, "bob", "Somebody has seen the Cat?")
    await home.learnt()
    reply = await home.ask(roof, "bob", ASKED)
    await change(home, neighbor)
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_retelling_with_the_number_of_a_neighbor_is_no_history(home: Asking, roof: Place) -> None:
    home.language.reply = ("Am Montag, und jemand sucht ein Tier [1].",)
    await home.say(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.say(roof, "bob", "Somebody has seen the Cat?")
    await home.learnt()
    first = await home.ask(roof, "bob", ASKED)
    thread = replace(roof, thread=first.target.message)
    home.language.reply = ("So ist es [1].",)
    second = await home.ask(thread, "bob", "And who says that of the Tiles?")
    assert "Tier" in "".join(turn.text for turn in home.language.prompts[-1].history)
    await home.delete(neighbor)
    assert [(await stored(home, each)).text for each in (first, second)] == ["", ""]
    await home.ask(thread, "bob", "When do the Tiles come, again?")
    assert "Tier" not in "".join(turn.text for turn in home.language.prompts[-1].history)


async def test_what_a_model_was_shown_while_it_was_removed_is_no_history(home: Asking, roof: Place) -> None:
    home.language.reply = ("Am Montag. ", "Jemand sucht ein Tier [1].")
    await home.say(roof, "ada", "The Tiles come on Monday.")
    neighbor = await home.say(roof, "bob", "Somebody has seen the Cat?")
    await home.learnt()
    home.language.going.clear()
    async with asyncio.TaskGroup() as group:
        asking = group.create_task(home.ask(roof, "bob", ASKED))
        await home.language.said.wait()
        await home.delete(neighbor)
        home.language.going.set()
    reply = asking.result()
    assert (await stored(home, reply)).text == ""
    assert "Montag" in reply.text


async def test_what_turned_private_leaves_the_history_of_other_channels(home: Asking, roof: Place) -> None:
    hall = await home.joined("HALL", "bob")
    await home.say(roof, "ada", "Somebody has seen the Cat of the Tiles?")
    await home.say(hall, "bob", "The Tiles come on Monday.")
    await home.learnt()
    home.language.reply = ("Am Montag, und jemand sucht ein Tier [2].",)
    reply = await home.ask(hall, "bob", ASKED)
    found = await stored(home, reply)
    assert [each.room for each in found.sources] == [hall.room]
    assert found.text
    home.platform.change("ROOF", kind="closed")
    await home.listening.take(Changed(roof))
    assert (await stored(home, reply)).text == ""


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.parametrize("change", [edit, lambda home, said: home.delete(said), forget_message, forget_document])
async def test_a_kill_between_the_change_and_the_redaction_loses_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Removal
) -> None:
    async with asking(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada", "bob")
        tiles = await home.say(roof, "ada", "The Tiles come on Monday.")
        await home.learnt()
        reply = await home.ask(roof, "bob", ASKED)
        platform = home.platform
        wrote = killed_after(monkeypatch, home, "amend", "forget")
        with pytest.raises(Killed):
            await change(home, tiles)
        assert wrote
    async with asking(tmp_path / "home", platform=platform) as home:
        await home.house.store.answers.blank_pending()
        assert (await stored(home, reply)).text == ""
        await corrected(home)
        assert reply.text == texts.SOURCE_REMOVED
        assert await home.house.store.redactions.all() == []


def killed_after(monkeypatch: pytest.MonkeyPatch, home: Asking, *steps: str) -> list[str]:
    """Let the process end after the engine has done one of these; gives what it has done."""
    done: list[str] = []

    def ended(name: str) -> Callable[..., Awaitable[None]]:
        step = getattr(home.house.desk.engine, name)

        async def work(*given: object, **more: object) -> None:
            await step(*given, **more)
            done.append(name)
            raise Killed

        return work

    for name in steps:
        monkeypatch.setattr(home.house.desk.engine, name, ended(name))
    return done


async def test_an_edit_that_is_repeated_after_its_redaction_failed_redacts(
    home: Asking, roof: Place, tiles: Message, monkeypatch: pytest.MonkeyPatch
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    with monkeypatch.context() as patched:
        killed_after(patched, home, "amend")
        edited = home.platform.edit(tiles, "The Tiles come on Thursday.")
        with pytest.raises(Killed):
            await home.listening.take(Edited(edited))
    await home.listening.take(Edited(edited))
    assert (await stored(home, reply)).text == ""


async def test_words_that_no_number_names_count_as_used(tmp_path: Path) -> None:
    async with asking(tmp_path / "home", Speaker("They come on Monday, Orchid-7 says so.")) as home:
        roof = await home.joined("ROOF", "ada", "bob")
        said = await home.say(roof, "ada", "The Tiles are called ORCHID-7 inside.")
        await home.learnt()
        reply = await home.ask(roof, "bob", ASKED)
        await home.delete(said)
        await corrected(home)
        assert reply.text == texts.SOURCE_REMOVED


async def test_words_that_came_by_a_fact_of_the_graph_alone_count_as_used(tmp_path: Path) -> None:
    async with asking(tmp_path / "home", Speaker("It is an Orchid.")) as home:
        roof = await home.joined("ROOF", "ada", "bob")
        said = await home.say(roof, "ada", "The Cat of Ada is an Orchid.")
        await home.learnt()
        fact = EntityRow("Cat", "thing", "The Cat is an Orchid.")
        context = Context(Condensed("?"), "mix", (fact,))
        passage = Stating(f"{roof.room}:window:{said.id}", roof.room, said.id, "Ada: The Cat of Ada is an Orchid.")
        draft = Draft(heard(replace(said, text="What is it?")), text="It is an Orchid.")
        await note_facts(Told(context, [passage, passage._replace(passage="m9", text="Nothing.")]), draft)
        assert draft.stated == {f"{roof.room}:window:{said.id}", f"{roof.room}:message:{said.id}"}
        assert draft.facts == {f"{roof.room}:window:{said.id}:part"}


async def test_the_passages_behind_a_fact_of_the_graph_are_found(home: Asking, roof: Place) -> None:
    upload = home.platform.upload("notes.txt", b"The Nails of Zanzibar come on Friday, says Mina.")
    said = home.platform.say(roof, "ada", "", uploads=(upload,))
    await home.listening.filing.file(said)
    await home.learnt()
    scope = Scope(frozenset({"slack:T1:open"}), frozenset())
    answer = await home.house.desk.engine.ask(Question("Who says that of Zanzibar?", scope))
    assert answer.context.entities
    [found] = await answer.passages_stating()
    assert (found.document, found.room) == (f"{roof.room}:file:{said.id}:{upload.id}", roof.room)
    assert "Zanzibar" in found.text
    await answer.aclose()


class Told:
    """An answer that was shown these facts, and what they rest on."""

    extractive = False

    def __init__(self, context: Context, behind: list[Stating]) -> None:
        self.context = context
        self._behind = behind

    async def passages_stating(self) -> list[Stating]:
        return self._behind


async def test_a_follow_up_that_repeats_it_goes_too(tmp_path: Path) -> None:
    async with asking(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada", "bob")
        tiles = await home.say(roof, "ada", "The Tiles come on Monday.")
        await home.learnt()
        first = await home.ask(roof, "bob", ASKED)
        home.language.reply = ("As I said: Monday.",)
        second = await home.ask(replace(roof, thread=first.target.message), "bob", "Sure?")
        home.language.reply = (texts.NOTHING_FOUND,)
        third = await home.ask(replace(roof, thread=first.target.message), "bob", "And the Nails?")
        await home.edit(tiles, "The Tiles come late.")
        await corrected(home)
        assert (first.text, second.text) == 2 * (texts.SOURCE_REMOVED,)
        assert third.text == texts.NOTHING_FOUND


async def test_a_platform_that_fails_is_tried_again_until_it_works(home: Asking, roof: Place, tiles: Message) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    await home.delete(tiles)
    home.platform.failing["replace_answer"] = PlatformError("Down.")
    await corrected(home)
    assert "Monday" in reply.text
    [waiting] = await home.house.store.corrections.due(2e10, ("slack",), 9)
    assert waiting.tries == 1
    del home.platform.failing["replace_answer"]
    await corrected(home)
    assert "Monday" in reply.text, "it is not due yet"
    await corrected(home, waiting.since + 60)
    assert reply.text == texts.SOURCE_REMOVED


async def test_one_that_refuses_is_given_up_in_the_end(home: Asking, roof: Place, tiles: Message) -> None:
    await home.ask(roof, "bob", ASKED)
    await home.delete(tiles)
    home.platform.failing["replace_answer"] = Withheld("Never.")
    await corrected(home)
    [waiting] = await home.house.store.corrections.due(2e10, ("slack",), 9)
    await corrected(home, waiting.since + GIVEN_UP + 1)
    assert await home.house.store.corrections.due(2e10, ("slack",), 9) == []


async def test_many_leave_room_for_answers_and_one_that_breaks_stops_no_other(tmp_path: Path) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with asking(tmp_path / "home", questions_per_minute=1000) as home:
        roof = await home.joined("ROOF", "ada", "bob")
        tiles = await home.say(roof, "ada", "The Tiles come on Monday.")
        await home.learnt()
        replies = [await home.ask(roof, "bob", ASKED) for _ in range(BURST + 3)]
        await home.delete(tiles)
        home.platform.failing["replace_answer"] = KeyError("unforeseen")
        await AnswerCorrector(home.house, sleep=sleep).run()
        assert "Monday" in replies[0].text
        del home.platform.failing["replace_answer"]
        [first, *_] = await home.house.store.corrections.due(2e10, ("slack",), 99)
        await AnswerCorrector(home.house, lambda: first.since + 60, sleep).run()
    assert {each.text for each in replies} == {texts.SOURCE_REMOVED}
    assert waits == 6 * [EVERY]


async def test_a_restart_goes_on_with_it(tmp_path: Path) -> None:
    async with asking(tmp_path / "home") as home:
        roof = await home.joined("ROOF", "ada", "bob")
        tiles = await home.say(roof, "ada", "The Tiles come on Monday.")
        await home.learnt()
        reply = await home.ask(roof, "bob", ASKED)
        await home.delete(tiles)
        platform = home.platform
    async with asking(tmp_path / "home", platform=platform) as home:
        await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_a_platform_that_is_not_there_costs_no_try(home: Asking, roof: Place, tiles: Message) -> None:
    await home.ask(roof, "bob", ASKED)
    await home.delete(tiles)
    away = replace(home.house, platforms={})
    await AnswerCorrector(away).run()
    [waiting] = await home.house.store.corrections.due(2e10, ("slack",), 9)
    assert waiting.tries == 0


@pytest.mark.parametrize("lasting", [False, True])
async def test_what_one_alone_saw_is_replaced_where_the_platform_can(
    home: Asking, roof: Place, tiles: Message, *, lasting: bool
) -> None:
    home.platform.marks_private = lasting
    reply = await home.command(roof, "bob", ASKED)
    await home.delete(tiles)
    await corrected(home)
    assert (reply.text == texts.SOURCE_REMOVED) is lasting
    assert ("Monday" in reply.text) is not lasting
    assert (await stored(home, reply)).text == ""
    assert len(home.platform.replies) == 1


@pytest.mark.parametrize("member", [False, True])
async def test_what_one_alone_saw_stays_while_that_person_may_read_it(home: Asking, *, member: bool) -> None:
    roof, hall = await home.joined("ROOF", "ada", "bob"), await home.joined("HALL", "ada", "bob")
    await home.say(roof, "ada", "The Tiles come on Monday.")
    await home.learnt()
    reply = await home.command(hall, "bob", ASKED)
    assert "Monday" in reply.text
    home.platform.change("ROOF", kind="closed", members=frozenset({"ada", "bob"} if member else {"ada"}))
    await home.listening.take(Changed(roof))
    await corrected(home)
    assert ("Monday" in reply.text) is member
    assert (reply.text == texts.SOURCE_REMOVED) is not member


@pytest.mark.parametrize("drop", ["its question", "its asker"])
async def test_an_answer_whose_question_is_gone_is_corrected_all_the_same(
    home: Asking, roof: Place, tiles: Message, drop: str
) -> None:
    reply = await home.ask(roof, "bob", ASKED)
    if drop == "its question":
        await home.listening.take(Deleted(roof, (reply.target.message,)))
    else:
        await home.listening.forget_person("slack", "T1", "bob")
    left = await stored(home, reply)
    assert (left.question, left.text) == ("", "")
    assert "Monday" in reply.text
    await home.delete(tiles)
    await corrected(home)
    assert reply.text == texts.SOURCE_REMOVED


async def test_an_edited_question_is_kept_as_it_reads_now(home: Asking, roof: Place, tiles: Message) -> None:
    question = home.platform.say(roof, "bob", "<@BOT> When do the Tils come, Zanzibar?")
    await home.hear(question, addressed=True)
    await home.answer(question)
    await home.edit(question, "<@BOT> When do the Tiles come?")
    found = await home.house.store.answers.get(answer_id(roof, question.id))
    assert found is not None
    assert found.question == "<@BOT> When do the Tiles come?"
    assert found.state == "done"


async def test_words_that_only_the_question_had_leave_the_answer_with_it(tmp_path: Path) -> None:
    async with asking(tmp_path / "home", Speaker("For Zanzibar they come on Monday [1].")) as home:
        roof = await home.joined("ROOF", "ada", "bob")
        await home.say(roof, "ada", "The Tiles come on Monday.")
        await home.learnt()
        question = home.platform.say(roof, "bob", "<@BOT> When do the Tiles for Zanzibar come?")
        await home.hear(question, addressed=True)
        await home.answer(question)
        await home.edit(question, "<@BOT> When do the Tiles come?")
        found = await home.house.store.answers.get(answer_id(roof, question.id))
        assert found is not None
        assert (found.question, found.text) == ("", "")
