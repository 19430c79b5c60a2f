"""Verified answers: by whom, for whom they come first, and what ends them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bot import texts
from bot.answers.control.buttons import AnswerButtons
from bot.answers.question import request_from_message
from bot.answers.review.lookup import MAX_CANDIDATES, VerifiedLookup, provenance_of
from bot.answers.review.notices import BATCH_SIZE
from bot.answers.review.verification import AnswerVerifier
from bot.errors import NotAllowed, PlatformError
from bot.platform.events import ButtonPressed, MessageReceived
from bot.platform.models import Location, Message, Person
from bot.store import AnswerResult, AnswerSource, Expert, VerifiedAnswer
from bot.store.models import message_key
from bot.texts import control as control_texts
from bot.texts import review as review_texts
from engine import Scope
from engine.errors import InvalidQuestion, ModelUnavailable, NotFound
from engine.llm.offline.quoting.notices import CLOSEST
from tests.support.bot_fixture import BotFixture, run_before
from tests.support.builders import HALL, ROOF, make_answer
from tests.support.fake_platform import START, RecordedReply

ASKED = "When do the Tiles come?"
AGAIN = "When do the Tiles come, please?"
HEADING = "✅ **Verified by Max on "
pytestmark = pytest.mark.usefixtures("tiles", "hall", "managers")


@pytest.fixture
def managers(bot: BotFixture) -> None:
    for person in ("max", "eve"):
        bot.platform.people[person] = Person(person, person.title(), is_manager=True)


async def press_verify(bot: BotFixture, reply: RecordedReply, person: str = "max", action: str = "verify") -> str:
    before = len(bot.platform.private_messages)
    pressed = ButtonPressed("k1", reply.target.location, person, action, reply.target.answer, "h")
    await AnswerButtons(bot.context, bot.metrics).handle(pressed)
    return " ".join(card.text for _, card in bot.platform.private_messages[before:])


async def list_offers(bot: BotFixture, reply: RecordedReply, person: str = "max") -> list[str]:
    """The actions of the card that a person gets from the last button below an answer."""
    assert reply.closing is not None
    before, button = len(bot.platform.private_messages), reply.closing.buttons[-1]
    pressed = ButtonPressed("k1", reply.target.location, person, button.action, button.value, "h")
    await AnswerButtons(bot.context, bot.metrics).handle(pressed)
    return [each.action for _, card in bot.platform.private_messages[before:] for each in card.buttons]


async def verify(bot: BotFixture, place: Location = ROOF, asker: str = "bob", question: str = ASKED) -> RecordedReply:
    reply = await bot.ask(place, asker, question)
    assert (await press_verify(bot, reply)).startswith("Verified.")
    return reply


def is_verified(reply: RecordedReply) -> bool:
    return reply.text.startswith(HEADING)


async def test_a_verified_answer_comes_first_with_its_verifier_and_sources(bot: BotFixture) -> None:
    first = await verify(bot)
    again = await bot.ask(HALL, "bob", AGAIN)
    heading, text = again.text.split("\n\n", 1)
    assert heading.startswith(HEADING)
    assert heading.endswith(f", 2026:** {ASKED}")
    assert text == first.text.strip()
    assert first.closing is not None
    assert again.closing is not None
    assert again.closing.sources == first.closing.sources
    assert review_texts.VERIFIED_HINT in again.closing.notice
    assert [button.action for button in first.closing.buttons] == [
        "up",
        "down",
        "sources",
        "improve",
    ]
    assert await list_offers(bot, first) == ["verify", "correct-answer", "down", "delete"]
    assert await list_offers(bot, again) == ["verify", "correct-answer", "down", "delete"]
    assert await list_offers(bot, again, "bob") == ["down", "delete"]
    assert not is_verified(await bot.ask(HALL, "bob", "Who brings the Tiles?"))
    assert not is_verified(await bot.ask(HALL, "bob", "Summarize the Tiles since Monday."))


async def test_a_verified_answer_is_corrected_where_it_is_shown(bot: BotFixture) -> None:
    await verify(bot)
    again = await bot.ask(HALL, "bob", AGAIN)
    stored = await bot.store.answers.get(again.target.answer)
    assert stored is not None
    bot.platform.advance(3600)
    verifier = AnswerVerifier(bot.context, bot.clock.now())
    with pytest.raises(NotAllowed):
        await verifier.verify(stored, "bob", "On Thursday.")
    assert ASKED in await verifier.verify(stored, "eve", "On Thursday.")
    [one] = await bot.store.verified_answers.list_in_room(ROOF.room)
    assert (one.question, one.text, one.verifier, one.author) == (ASKED, "On Thursday.", "eve", "eve")
    assert await bot.store.verified_answers.list_in_room(HALL.room) == []
    assert "Thursday" in (await bot.ask(HALL, "bob", AGAIN)).text


async def test_a_verified_answer_is_verified_again(bot: BotFixture) -> None:
    await verify(bot)
    [before] = await bot.store.verified_answers.list_in_room(ROOF.room)
    bot.platform.advance(3600)
    direct = bot.platform.add_channel("DIRECT", "eve", kind="direct")
    shown = await bot.ask(direct, "eve", AGAIN)
    assert await list_offers(bot, shown, "eve") == ["verify", "correct-answer", "delete"]
    assert (await press_verify(bot, shown, "eve")).startswith("Verified.")
    [renewed] = await bot.store.verified_answers.list_in_room(ROOF.room)
    assert renewed == replace(before, verifier="eve", verified_at=renewed.verified_at, keys=renewed.keys)
    assert renewed.verified_at > before.verified_at


async def test_nothing_of_a_verified_answer_is_shown_before_its_readers_are_known(
    bot: BotFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    await verify(bot)

    async def fail(*_: object) -> None:
        raise NotFound("It is gone.")

    monkeypatch.setattr(VerifiedLookup, "repeat", fail)
    assert "Monday" not in (await bot.ask(HALL, "bob", AGAIN)).text


async def test_a_verified_answer_whose_source_was_replaced_asks_to_be_checked(bot: BotFixture) -> None:
    await verify(bot)
    bot.platform.advance(3600)
    await bot.post_indexed(ROOF, "ada", "The Tiles come on Thursday now.")
    again = await bot.ask(HALL, "bob", AGAIN)
    assert is_verified(again)
    assert again.closing is not None
    assert "seems to replace what this answer rests on" in again.closing.notice


async def test_the_closest_passages_cannot_be_verified_but_replaced_by_own_words(bot: BotFixture) -> None:
    bot.language.reply = (f"{CLOSEST}\n“Tiles.” [1]",)
    reply = await bot.ask(ROOF, "bob", ASKED)
    stored = await bot.store.answers.get(reply.target.answer)
    assert stored is not None
    verifier = AnswerVerifier(bot.context, bot.clock.now())
    with pytest.raises(InvalidQuestion, match=review_texts.FOUND_NOTHING):
        await verifier.verify(stored, "max")
    [unanswered] = await bot.store.unanswered.list_since("slack", "T1", START, 9)
    assert unanswered.answer == stored.id
    assert (await verifier.verify(stored, "max", "On Monday.")).startswith("Verified.")
    again = await bot.ask(ROOF, "bob", AGAIN)
    assert "On Monday." in again.text
    assert again.closing is not None
    assert again.closing.sources == ()


@pytest.mark.parametrize("person", ["bob", "gus", "nobody"])
async def test_others_cannot_verify(bot: BotFixture, person: str) -> None:
    bot.platform.add_guest("gus")
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert await press_verify(bot, reply, person) == review_texts.CANNOT_VERIFY
    verifier = AnswerVerifier(bot.context, bot.clock.now())
    with pytest.raises(NotAllowed):
        await verifier.pin(ROOF, person, "When do the Nails come?", "Never.")
    with pytest.raises(NotAllowed):
        await verifier.take_reply(bot.platform.messages[0], person)
    assert not is_verified(await bot.ask(HALL, "bob", AGAIN))


async def test_an_expert_verifies_where_they_were_named(bot: BotFixture) -> None:
    vault = await bot.join("VAULT", "ada", "bob", kind="closed")
    await bot.store.experts.add(Expert(vault, "ada", "roofing"))
    assert await press_verify(bot, await bot.ask(ROOF, "bob", ASKED), "ada") == review_texts.CANNOT_VERIFY
    assert (await press_verify(bot, await bot.ask(vault, "bob", ASKED), "ada")).startswith("Verified.")
    await bot.store.experts.add(Expert(ROOF, "bob", "roofing"))
    assert (await press_verify(bot, await bot.ask(vault, "bob", ASKED), "bob")).startswith("Verified.")


async def test_only_those_who_can_read_all_of_it_see_it(bot: BotFixture) -> None:
    """Verified in a closed channel, from a message of that channel and one of the open roof."""
    vault = await bot.join("VAULT", "ada", "max", kind="closed")
    await bot.post_indexed(vault, "ada", "The Key of Zanzibar is under the Mat.")
    await verify(bot, vault, "ada", "Where is the Key of Zanzibar?")
    asked = "Where is the Key of Zanzibar, please?"
    assert is_verified(await bot.ask(vault, "max", asked))
    assert not is_verified(await bot.ask(ROOF, "ada", asked))
    assert "Mat" not in bot.last_reply.text
    assert is_verified(await bot.ask_by_command(ROOF, "ada", asked, id_="c1"))
    assert not is_verified(await bot.ask_by_command(ROOF, "bob", asked, id_="c2"))


async def test_it_is_no_wider_than_its_sources_become(bot: BotFixture) -> None:
    """Verified in the hall from a message of the roof, which is closed later."""
    await verify(bot, HALL)
    assert is_verified(await bot.ask(HALL, "bob", AGAIN))
    bot.change_channel(ROOF, kind="closed", members=frozenset({"ada"}))
    assert not is_verified(await bot.ask(HALL, "bob", AGAIN))


async def test_a_private_answer_is_verified_by_its_asker_only(bot: BotFixture) -> None:
    private = await bot.ask_by_command(ROOF, "bob", ASKED)
    assert "verify" not in await list_offers(bot, private, "bob")
    assert await list_offers(bot, private) == []
    assert await press_verify(bot, private) == texts.NO_ANSWER
    own = await bot.ask_by_command(ROOF, "max", ASKED, id_="c2")
    assert await list_offers(bot, own) == ["verify", "correct-answer", "again", "sources"]
    assert (await press_verify(bot, own)).startswith("Verified.")


@pytest.mark.parametrize("change", ["edit", "delete", "forget"])
async def test_an_edit_or_deletion_of_a_source_withdraws_it(bot: BotFixture, tiles: Message, change: str) -> None:
    await verify(bot)
    posted = await bot.ask(HALL, "bob", AGAIN)
    assert is_verified(posted)
    if change == "edit":
        await bot.edit(tiles, "The Tiles come on Friday.")
    elif change == "delete":
        await bot.delete(tiles)
    else:
        await bot.ingest_service.forget_message(ROOF, tiles.id)
    assert not is_verified(await bot.ask(HALL, "bob", AGAIN))
    await bot.correct_answers()
    assert posted.text == texts.SOURCE_REMOVED
    [withdrawn] = await bot.store.verified_answers.list_withdrawn("slack", "T1")
    assert (withdrawn.question, withdrawn.text, withdrawn.verifier) == ("", "", "max")


@pytest.mark.parametrize("person", ["bob", "max", "ada"])
async def test_it_goes_with_its_asker_its_verifier_and_the_author_of_its_source(bot: BotFixture, person: str) -> None:
    await verify(bot)
    await bot.forget_person(person)
    assert not is_verified(await bot.ask(HALL, "eve", AGAIN))
    assert await bot.store.verified_answers.list_questions("slack", "T1") == []


@pytest.mark.parametrize("person", ["ada", "max"])
async def test_what_a_person_wrote_goes_from_the_answers_that_repeat_it(bot: BotFixture, person: str) -> None:
    """Max pinned an answer; Ada's message, in a channel that is not read, was taken as one."""
    yard = bot.platform.add_channel("YARD", "ada", "bob", "max")
    root = bot.platform.add_message(yard, "bob", "When do the Nails come?")
    reply = bot.platform.add_message(request_from_message(root).location, "ada", "On Friday.")
    verifier = AnswerVerifier(bot.context, bot.clock.now())
    if person == "ada":
        await verifier.take_reply(reply, "eve")
    else:
        await verifier.pin(yard, person, "When do the Nails come?", "On Friday.")
    posted = await bot.ask(yard, "bob", "When do the Nails come, please?")
    assert posted.text.startswith("✅ **Verified by ")
    again = await bot.stored(posted)
    assert (await AnswerVerifier(bot.context, bot.clock.now()).verify(again, "eve")).startswith("Verified.")
    await bot.forget_person(person)
    await bot.correct_answers()
    assert posted.text == texts.SOURCE_REMOVED
    assert (await bot.stored(posted)).text == ""
    assert await bot.store.verified_answers.list_questions("slack", "T1") == []


async def test_a_corrected_answer_keeps_its_sources_and_notifies_nobody(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    stored = await bot.stored(reply)
    text = "On Tuesday [1] [7], says <!channel> @everyone. See [it](https://evil.example/x)."
    await AnswerVerifier(bot.context, bot.clock.now()).verify(stored, "max", text)
    again = await bot.ask(HALL, "bob", AGAIN)
    assert "On Tuesday [[1]](https://chat.example/T1/ROOF/m1)" in again.text
    assert "<!channel>" not in again.text
    assert "@everyone" not in again.text
    assert again.closing is not None
    assert [source.link for source in again.closing.sources] == ["https://chat.example/T1/ROOF/m1"]


async def test_a_person_s_reply_is_taken_as_the_answer_and_cited(bot: BotFixture) -> None:
    question = bot.platform.add_message(ROOF, "bob", "<@BOT> When do the Nails come?")
    await bot.answer(question)
    thread = request_from_message(question).location
    reply = await bot.post(thread, "ada", "On Friday, says <@bob>.")
    await AnswerVerifier(bot.context, bot.clock.now()).take_reply(reply, "max")
    again = await bot.ask(HALL, "bob", "When do the Nails come, please?")
    assert again.text.endswith(f"On Friday, says @Bob. [[1]](https://chat.example/T1/ROOF/{reply.id})")
    assert again.closing is not None
    assert [source.title for source in again.closing.sources] == ["#roof · Ada"]
    await bot.delete(reply)
    assert not is_verified(await bot.ask(HALL, "bob", "When do the Nails come, please?"))


async def test_a_reply_is_taken_to_the_question_that_began_its_thread(bot: BotFixture) -> None:
    root = await bot.post(ROOF, "bob", "When do the Nails come?")
    reply = await bot.post(request_from_message(root).location, "ada", "On Friday.")
    await AnswerVerifier(bot.context, bot.clock.now()).take_reply(reply, "max")
    assert is_verified(await bot.ask(HALL, "bob", "When do the Nails come, please?"))
    await bot.delete(root)
    assert not is_verified(await bot.ask(HALL, "bob", "When do the Nails come, please?"))


@pytest.mark.parametrize("edited", ["question", "reply"])
async def test_an_edit_withdraws_it_in_a_channel_that_is_not_read(bot: BotFixture, edited: str) -> None:
    yard = bot.platform.add_channel("YARD", "ada", "bob", "max")
    root = bot.platform.add_message(yard, "bob", "When do the Nails come?")
    reply = bot.platform.add_message(request_from_message(root).location, "ada", "On Friday.")
    await AnswerVerifier(bot.context, bot.clock.now()).take_reply(reply, "max")
    await bot.edit(reply, reply.text)
    assert await bot.store.verified_answers.list_questions("slack", "T1")
    await bot.edit(*((root, "When do the Bolts come?") if edited == "question" else (reply, "On Monday.")))
    assert await bot.store.verified_answers.list_questions("slack", "T1") == []


async def test_what_was_edited_before_it_was_verified_is_taken_as_it_is_now(bot: BotFixture) -> None:
    root = await bot.post(ROOF, "bob", "When do teh Nails come?")
    reply = await bot.post(request_from_message(root).location, "ada", "On Fryday.")
    await bot.edit(root, "When do the Nails come?")
    edited = await bot.edit(reply, "On Friday.")
    await AnswerVerifier(bot.context, bot.clock.now()).take_reply(edited, "max")
    [taken] = await bot.store.verified_answers.list_in_room(ROOF.room)
    assert (taken.question, taken.text) == ("When do the Nails come?", "On Friday. [1]")


async def test_an_answer_is_verified_after_its_question_was_edited(bot: BotFixture) -> None:
    asked = bot.platform.add_message(ROOF, "bob", "<@BOT> When do teh Tiles come?")
    await bot.ingest_service.handle(MessageReceived(asked, addressed=True))
    await bot.answer(asked)
    await bot.edit(asked, f"<@BOT> {ASKED}")
    assert (await press_verify(bot, bot.last_reply)).startswith("Verified.")


async def test_what_is_edited_while_it_is_verified_is_not_taken(bot: BotFixture) -> None:
    root = await bot.post(ROOF, "bob", "When do the Nails come?")
    reply = await bot.post(request_from_message(root).location, "ada", "On Friday.")
    run_before(bot.store.verified_answers, "save", lambda: bot.edit(reply, "On Monday."))
    with pytest.raises(NotFound):
        await AnswerVerifier(bot.context, bot.clock.now()).take_reply(reply, "max")


async def test_a_reply_that_was_forgotten_or_answers_nothing_is_not_taken(bot: BotFixture) -> None:
    verifier = AnswerVerifier(bot.context, bot.clock.now())
    root = await bot.post(ROOF, "bob", "When do the Nails come?")
    by_bot = bot.platform.add_message(request_from_message(root).location, "robo", "On Friday.", by_bot=True)
    for message in (root, by_bot):
        with pytest.raises(InvalidQuestion):
            await verifier.take_reply(message, "max")
    reply = await bot.post(request_from_message(root).location, "ada", "On Friday.")
    await bot.forget_person("ada")
    with pytest.raises(InvalidQuestion, match="forgotten"):
        await verifier.take_reply(reply, "max")


async def test_a_pinned_answer_needs_a_question_that_can_be_recognized(bot: BotFixture) -> None:
    verifier = AnswerVerifier(bot.context, bot.clock.now())
    wrong: tuple[tuple[str, str], ...] = (("What is it?", "This."), ("When do the Nails come?", " "), ("x " * 300, "y"))
    for question, text in wrong:
        with pytest.raises(InvalidQuestion):
            await verifier.pin(ROOF, "max", question, text)
    await verifier.pin(ROOF, "max", "When do the Nails come?", "Never.")
    await verifier.pin(ROOF, "max", "when do the nails  come?", "On Friday.")
    shown = await bot.ask(HALL, "bob", "When do the Nails come, please?")
    assert shown.text.endswith("\n\nOn Friday.")
    assert shown.closing is not None
    assert texts.NO_SOURCE_FOUND not in shown.closing.notice
    assert await bot.store.unanswered.list_since("slack", "T1", START, 10) == []
    direct = bot.platform.add_channel("DMAX", "max", kind="direct")
    with pytest.raises(InvalidQuestion, match="direct"):
        await verifier.pin(direct, "max", "When do the Nails come?", "Never.")


async def test_an_answer_that_lost_its_source_cannot_be_verified(bot: BotFixture, tiles: Message) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    stored = await bot.stored(reply)
    await bot.delete(tiles)
    assert await press_verify(bot, reply) == texts.NO_ANSWER
    with pytest.raises(NotFound):  # an answer that was read before its source was removed
        await AnswerVerifier(bot.context, bot.clock.now()).verify(stored, "max")


@pytest.mark.parametrize(
    "question", ["in:#roof When do the Tiles come?", "Summarize this channel.", "Summarize what Ada said about Tiles."]
)
async def test_an_answer_that_would_never_be_shown_again_is_not_verified(bot: BotFixture, question: str) -> None:
    """A summary, or a question about a part of what is known, is answered from the sources each time."""
    assert await press_verify(bot, await bot.ask(ROOF, "bob", question)) == review_texts.UNCLEAR_QUESTION


async def test_a_short_question_that_continues_a_thread_is_not_verified(bot: BotFixture) -> None:
    """Elsewhere "And the Tiles?" asks for something else."""
    first = await bot.ask(ROOF, "bob", ASKED)
    second = await bot.ask(first.target.location, "bob", "And the Tiles?")
    assert await press_verify(bot, second) == review_texts.UNCLEAR_QUESTION
    reply = await bot.post(first.target.location, "ada", "They are red.")
    with pytest.raises(InvalidQuestion, match="recognize"):
        await AnswerVerifier(bot.context, bot.clock.now()).take_reply(reply, "max")
    assert (await press_verify(bot, first)).startswith("Verified.")


async def test_the_answer_of_the_channel_itself_comes_before_those_of_others(bot: BotFixture) -> None:
    """More answers to the same question stand in channels that the reader cannot read than are compared."""
    for number, place in enumerate(
        (HALL, ROOF, *[replace(ROOF, channel=f"C{each}") for each in range(MAX_CANDIDATES)])
    ):
        if number > 1:
            await bot.join(place.channel, "max", kind="closed")
        answer = f"In {place.channel}."
        await AnswerVerifier(bot.context, bot.clock.now()).pin(place, "max", "Where do the Nails lie?", answer)
    for place in (HALL, ROOF):
        assert (await bot.ask(place, "bob", "Where do the Nails lie, please?")).text.endswith(f"In {place.channel}.")
    yard = await bot.join("YARD", "bob")
    assert (await bot.ask(yard, "bob", "Where do the Nails lie, please?")).text.endswith("In ROOF.")


def test_it_rests_on_the_rooms_of_its_sources_of_the_answers_before_it_and_where_it_was_verified() -> None:
    source = AnswerSource(1, "#vault", "", "Monday", "page", "p1", "slack:T1:VAULT", "slack:T1:VAULT")
    verified = VerifiedAnswer(
        *("v1", ROOF, "m1", ASKED, "On Monday [1].", "bob", "", "max", START),
        sources=(source,),
        spaces=frozenset({"slack:T1:open"}),
        rooms=frozenset({HALL.room}),
    )
    assert provenance_of(verified).source_scope == Scope(
        frozenset({"slack:T1:open"}), frozenset({source.room, HALL.room, ROOF.room})
    )


async def test_an_answer_is_verified_with_all_that_it_drew_on(bot: BotFixture) -> None:
    drawn = AnswerResult("On Monday.", (), frozenset({"d1"}), frozenset({"slack:T1:open"}), frozenset({HALL.room}))
    stored = make_answer(question=ASKED, message_id="m1")
    await bot.store.answers.begin(stored)
    await bot.store.answers.finish(stored.id, drawn)
    await AnswerVerifier(bot.context, bot.clock.now()).verify(stored, "max")
    [verified] = await bot.store.verified_answers.list_in_room(ROOF.room)
    assert verified.spaces == drawn.spaces
    assert verified.rooms == {HALL.room, ROOF.room}
    assert verified.keys >= {"d1", message_key(ROOF.room, "m1")}


async def test_retention_ends_it(bot: BotFixture) -> None:
    await AnswerVerifier(bot.context, START).pin(ROOF, "max", "When do the Nails come?", "On Friday.")
    await bot.store.verified_answers.delete_before(START.timestamp() + 1)
    assert not is_verified(await bot.ask(HALL, "bob", "When do the Nails come?"))


async def test_without_vectors_the_sources_are_searched(bot: BotFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    await verify(bot)

    async def fail(_: object) -> None:

        raise ModelUnavailable("The embedder is down.")

    monkeypatch.setattr(bot.engine, "measure_similarities", fail)
    reply = await bot.ask(HALL, "bob", AGAIN)
    assert not is_verified(reply)
    assert "Monday" in reply.text


async def test_the_verifier_is_told_once_that_a_source_changed(bot: BotFixture, tiles: Message) -> None:
    await verify(bot)
    await bot.delete(tiles)
    bot.platform.failing["post"] = PlatformError("It is down.")
    await bot.correct_answers()
    bot.platform.failing.clear()
    for _ in range(2):
        await bot.correct_answers()
    [(place, card)] = bot.platform.posts[-1:]
    assert (place.channel, card.text.count("verified on")) == ("Dmax", 1)
    assert sum("you verified" in each.text for _, each in bot.platform.posts) == 1
    assert "Monday" not in card.text


async def test_a_verifier_who_cannot_read_the_channel_any_more_is_told_nothing(bot: BotFixture, tiles: Message) -> None:
    vault = await bot.join("VAULT", "ada", "max", kind="closed")
    await verify(bot, vault, "ada")
    bot.change_channel(vault, members=frozenset({"ada"}))
    await bot.delete(tiles)
    await bot.correct_answers()
    assert not [card for _, card in bot.platform.posts if "you verified" in card.text]


async def test_the_verifier_is_told_once_it_is_known_that_they_can_read_it(bot: BotFixture, tiles: Message) -> None:
    vault = await bot.join("VAULT", "ada", "max", kind="closed")
    await verify(bot, vault, "ada")
    await bot.delete(tiles)
    bot.context.audience.invalidate(vault)
    bot.platform.failing = dict.fromkeys(("channel", "channel_list"), PlatformError("It is down."))
    await bot.correct_answers()
    assert not [card for _, card in bot.platform.posts if "you verified" in card.text]
    bot.platform.failing.clear()
    await bot.correct_answers()
    assert "you verified" in bot.platform.posts[-1][1].text


async def test_notices_of_a_workspace_that_is_not_served_hold_up_no_others(bot: BotFixture, tiles: Message) -> None:
    bot.platform.unserved = {"T0"}
    for number in range(BATCH_SIZE):
        place = Location("slack", "T0", "OFF")
        gone = VerifiedAnswer(f"0{number}", place, "m1", "?", "!", "bob", "", "max", START, keys=frozenset({"gone"}))
        await bot.store.verified_answers.save(gone)
    await bot.store.answers.redact(["gone"])
    await verify(bot)
    await bot.delete(tiles)
    await bot.correct_answers()
    assert "you verified" in bot.platform.posts[-1][1].text


async def test_a_question_that_found_nothing_offers_experts_where_there_are_some(bot: BotFixture) -> None:
    nothing = await bot.ask(HALL, "bob", "xyzzy?")
    assert await list_offers(bot, nothing, "bob") == ["down", "again", "delete"]
    await bot.store.experts.add(Expert(ROOF, "ada", "magic"))
    assert await list_offers(bot, nothing, "bob") == ["expert", "down", "again", "delete"]
    assert await list_offers(bot, nothing) == ["correct-answer", "expert", "down", "delete"], (
        "there is nothing to verify"
    )
    assert await list_offers(bot, nothing, "ada") == ["correct-answer", "down"], "she is the expert"


async def test_in_a_direct_message_the_asker_asks_again_or_deletes(bot: BotFixture) -> None:
    place = bot.platform.add_channel("D1", "bob", kind="direct")
    assert await list_offers(bot, await bot.ask(place, "bob", ASKED), "bob") == ["again", "delete"]


async def test_what_is_offered_belongs_to_one_of_several_answers(bot: BotFixture) -> None:
    reply = await bot.ask(ROOF, "bob", ASKED)
    assert await bot.store.answer_repeats.begin(reply.target.answer, 0, "k0", 0.0)
    assert await press_verify(bot, reply, "bob", "improve") == control_texts.REPLACED


async def test_a_message_to_the_bot_in_the_thread_verifies_its_answer_or_corrects_it(bot: BotFixture) -> None:
    first = await bot.ask(ROOF, "bob", ASKED)
    async with bot.run_bot() as running:
        for text, answer in (("verify this", "Monday"), ("correct: On Friday.", "On Friday.")):
            said = bot.platform.add_message(first.target.location, "max", f"<@BOT> {text}")
            await running.receive(MessageReceived(said, addressed=True), said.id)
            await running.event_queue.wait_until_idle()
            target, card = bot.platform.private_messages[-1]
            assert (card.text[:9], target.message) == ("Verified.", said.id)
            again = await bot.ask(HALL, "bob", AGAIN)
            assert is_verified(again)
            assert answer in again.text
