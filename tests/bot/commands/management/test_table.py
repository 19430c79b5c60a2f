"""A manager does outside of the chat what commands do, in channels that they can read, and nobody else does."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from dataclasses import dataclass, replace
from typing import TypeVar, get_args

import pytest

from bot import texts
from bot.capabilities import requests as common
from bot.capabilities.contradictions.requests import DismissContradiction, SettleContradiction
from bot.capabilities.deps import RunningParts
from bot.capabilities.documents.requests import DocumentResult, GetDocument
from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.management import requests
from bot.capabilities.management.requests import GetHealth, GetUsage, ManagementRequest
from bot.capabilities.management.results import (
    ChannelEntry,
    ChannelResult,
    QuestionList,
    VerifiedList,
    WorkspaceChannels,
)
from bot.capabilities.requests import Authorized, OperationRequest
from bot.capabilities.results import Completed, FilterNames, Forgotten, Listing, OperationResult
from bot.capabilities.run import run
from bot.commands.management.table import HANDLERS, perform_management
from bot.errors import NotAllowed
from bot.monitoring.report import BotState
from bot.store import AnswerResult, AnswerSource, ChannelSettings, Expert, Subject
from engine.errors import EngineError, InvalidQuestion, NotFound
from tests.bot.commands.conftest import ATTIC, Workspace
from tests.support.builders import ROOF, make_answer

ADA = Subject("slack", "T1", "ada")
SOURCE = AnswerSource(1, "#roof", "https://x", "Monday", f"{ROOF.room}:file:f:1", "1", "slack:T1:open", ROOF.room)
SECRET_SOURCE = replace(SOURCE, document=f"{ATTIC.room}:file:f:1", space=ATTIC.room, room=ATTIC.room)
REQUESTS: list[ManagementRequest] = [
    requests.ListChannels(),
    requests.GetChannel(ATTIC.room),
    requests.ChangeChannel(ATTIC.room, (("style", "short"),)),
    requests.ListQuestions(ATTIC.room),
    requests.VerifyAnswer("a1", "On Friday."),
    requests.PinAnswer(ATTIC.room, "When do the tiles come?", "On Friday."),
    requests.ListVerified(ATTIC.room),
    requests.RemoveVerified(ATTIC.room, "v"),
    requests.ForgetChannel(ATTIC.room),
    requests.BackfillChannel(ATTIC.room, 3),
    requests.ScheduleChannelDigest(ATTIC.room, "daily 8:00"),
    requests.AddExpert(ATTIC.room, "ada", "gold"),
    requests.RemoveExpert(ATTIC.room, "bob"),
]
# Those about answers are tried in tests/adapters/web/pages/asking/test_answers.py, others in files of their own.
FOR_EVERYONE = (
    *(requests.SchedulePersonalDigest, requests.ListExperts),
    *(requests.GetAnswerActions, requests.AskExpert),
    *(GetFaq, SettleContradiction, DismissContradiction, requests.GetReport, requests.ScheduleReport),
)
each_request = pytest.mark.parametrize("request_", REQUESTS, ids=lambda each: type(each).__name__)
Kind = TypeVar("Kind")


@dataclass(frozen=True, slots=True)
class RunningBot:
    """What a bot that runs does for the managers of its workspace."""

    workspace: Workspace

    def perform_management(self, subject: Subject, request: ManagementRequest) -> AsyncGenerator[OperationResult]:
        return perform_management(self.workspace, subject, request)  # type: ignore[arg-type]

    async def get_state(self) -> BotState:
        return BotState()


async def do(workspace: Workspace, request: OperationRequest, kind: type[Kind], person: str = "ada") -> Kind:
    """The result of a request with an access token of a person."""
    parts = replace(await workspace.deps.parts.open(), management=RunningBot(workspace))
    _, token = await parts.access.create_token("t", replace(ADA, person=person), ("read", "write", "manage"), 60, None)
    deps = replace(workspace.deps, parts=RunningParts(parts))
    async with aclosing(run(deps, Authorized(token, request))) as results:
        result = await anext(results)
    assert isinstance(result, kind)
    return result


async def ask(workspace: Workspace, id_: str, question: str, *sources: AnswerSource, **facts: object) -> None:
    """A question that found nothing, or these sources."""
    store = workspace.context.store.answers
    facts = {"asker": "bob", "message_id": f"q{id_}", "time": workspace.context.clock.now(), **facts}
    await store.begin(make_answer(id_, question=question, **facts))
    used = frozenset(source.document for source in sources)
    await store.finish(id_, AnswerResult("On Monday. [1]" if sources else "I found nothing.", sources, used))


def test_every_request_of_a_workspace_is_handled_and_tried_here() -> None:
    own = {GetFaq, SettleContradiction, DismissContradiction}
    assert {*HANDLERS, GetUsage, GetHealth} == set(get_args(ManagementRequest)) | own
    assert {*(type(request) for request in REQUESTS), *FOR_EVERYONE} == set(HANDLERS)


@each_request
async def test_nobody_but_a_manager_does_anything(workspace: Workspace, request_: ManagementRequest) -> None:
    await ask(workspace, "a1", "When do the tiles come?", location=ATTIC)
    for person in ("bob", "gus", "eve"):
        with pytest.raises((NotAllowed, NotFound)):
            await do(workspace, request_, object, person)
    workspace.platform.people["ada"] = replace(workspace.platform.people["ada"], is_manager=False)
    with pytest.raises((NotAllowed, NotFound)):
        await do(workspace, request_, object)
    assert await workspace.context.store.channel_settings.get(ATTIC.room) is None


@each_request
async def test_a_manager_sees_no_channel_that_they_cannot_read(
    workspace: Workspace, request_: ManagementRequest
) -> None:
    await ask(workspace, "a1", "When do the tiles come?", location=ATTIC)
    workspace.platform.people["max"] = replace(workspace.platform.people["ada"], id="max", name="Max")
    if isinstance(request_, requests.ListChannels):
        assert [channel.name for channel in (await do(workspace, request_, WorkspaceChannels, "max")).channels] == [
            "roof"
        ]
        return
    with pytest.raises(NotFound):
        await do(workspace, request_, object, "max")
    assert await workspace.context.store.channel_settings.get(ATTIC.room) is None
    assert await workspace.context.store.verified_answers.list_in_room(ATTIC.room) == []


@pytest.mark.parametrize("room", ["slack:T2:ROOF", "discord:T1:ROOF", "slack:T1:", "slack:T1:UNHEARD", "", "console"])
async def test_a_manager_sees_nothing_of_another_workspace(workspace: Workspace, room: str) -> None:
    with pytest.raises(NotFound):
        await do(workspace, requests.GetChannel(room), ChannelResult)


async def test_channels_are_listed_with_what_is_read_of_them(workspace: Workspace, announced: None) -> None:
    del announced
    await workspace.share("ada", "minutes.txt", "The tiles come on Monday.")
    await workspace.context.store.channel_settings.save(ATTIC.room, ChannelSettings(ingest=False))
    found = (await do(workspace, requests.ListChannels(), WorkspaceChannels)).channels
    attic = ChannelEntry(ATTIC.room, "attic", "closed", is_read=False, documents=0)
    assert found == (attic, ChannelEntry(ROOF.room, "roof", "open", is_read=True, documents=1))


async def test_settings_are_changed_with_the_checks_of_the_form(workspace: Workspace) -> None:
    changed = requests.ChangeChannel(ROOF.room, (("mode", "local"), ("style", "short"), ("askers", "everyone")))
    assert "`mode` is now **local**" in (await do(workspace, changed, Completed)).text
    shown = await do(workspace, requests.GetChannel(ROOF.room), ChannelResult)
    values = {field.name: field.value for _, fields in shown.groups for field in fields}
    assert (values["mode"], values["style"], values["askers"]) == ("local", "short", "everyone")
    for name, value in (("mode", "wild"), ("unheard", "x"), ("style", "x" * 500), ("ingest", "maybe")):
        with pytest.raises(InvalidQuestion):
            await do(workspace, requests.ChangeChannel(ROOF.room, (("language", "fr"), (name, value))), Completed)
    kept = await workspace.context.store.channel_settings.get(ROOF.room)
    assert kept is not None
    assert kept.language == ""


async def test_a_question_is_answered_and_its_answer_corrected_and_removed(workspace: Workspace) -> None:
    await ask(workspace, "a1", "When do the tiles for the roof come?")
    [question] = (await do(workspace, requests.ListQuestions(), QuestionList)).questions
    assert (question.question, question.count, question.askers) == ("When do the tiles for the roof come?", 1, ("Bob",))
    assert (question.text, question.link, question.channel) == ("", "https://chat.example/T1/ROOF/qa1", "roof")
    with pytest.raises(InvalidQuestion):  # there is no answer to approve
        await do(workspace, requests.VerifyAnswer("a1"), Completed)
    await do(workspace, requests.VerifyAnswer("a1", "On Friday."), Completed)
    assert (await do(workspace, requests.ListQuestions(), QuestionList)).questions == ()
    await do(workspace, requests.PinAnswer(ROOF.room, question.question, "On Sunday."), Completed)
    [verified] = (await do(workspace, requests.ListVerified(), VerifiedList)).answers
    assert (verified.text, verified.verifier, verified.channel) == ("On Sunday.", "Ada", "roof")
    with pytest.raises(NotFound):  # the chat takes the start of an id, a program names one answer
        await do(workspace, requests.RemoveVerified(ROOF.room, verified.id[:1]), Completed)
    await do(workspace, requests.RemoveVerified(ROOF.room, verified.id), Completed)
    assert (await do(workspace, requests.ListVerified(ROOF.room), VerifiedList)).answers == ()


async def test_an_expert_reviews_answers_in_their_channel_as_in_the_chat(workspace: Workspace) -> None:
    await ask(workspace, "a1", "When do the tiles for the roof come?", SOURCE)
    verify, pin = requests.VerifyAnswer("a1"), requests.PinAnswer(ROOF.room, "When is noon?", "At 12.")
    for request in (verify, pin, requests.ListVerified(ROOF.room), requests.ListVerified()):
        with pytest.raises(NotAllowed):
            await do(workspace, request, object, "bob")
    await workspace.context.store.experts.add(Expert(ROOF, "bob", "noon"))
    await do(workspace, verify, Completed, "bob")
    await do(workspace, pin, Completed, "bob")
    listed = (await do(workspace, requests.ListVerified(), VerifiedList, "bob")).answers
    assert {answer.question for answer in listed} == {"When do the tiles for the roof come?", "When is noon?"}
    await do(workspace, requests.RemoveVerified(ROOF.room, listed[0].id), Completed, "bob")
    with pytest.raises(NotAllowed):
        await do(workspace, requests.ListChannels(), object, "bob")


async def test_an_answer_voted_down_is_shown_and_approved(workspace: Workspace) -> None:
    await ask(workspace, "a1", "When do the tiles for the roof come?", SOURCE)
    await workspace.context.store.feedback.record_reason("a1", "bob", "outdated", "It was moved")
    [question] = (await do(workspace, requests.ListQuestions(), QuestionList)).questions
    assert (question.votes_down, question.text, question.reasons) == (
        1,
        "On Monday. [1]",
        ("It is outdated: It was moved",),
    )
    await do(workspace, requests.VerifyAnswer("a1"), Completed)
    [verified] = (await do(workspace, requests.ListVerified(), VerifiedList)).answers
    assert verified.text == "On Monday. [1]"


async def test_texts_of_closed_channels_and_private_answers_stay_there(workspace: Workspace) -> None:
    await ask(workspace, "a1", "Where is the chest of gold?", location=ATTIC)
    await ask(workspace, "a2", "What does Bob earn here?", private=True)
    assert (await do(workspace, requests.ListQuestions(), QuestionList)).questions == ()
    [question] = (await do(workspace, requests.ListQuestions(ATTIC.room), QuestionList)).questions
    assert question.question == "Where is the chest of gold?"
    workspace.platform.people["max"] = replace(workspace.platform.people["ada"], id="max", name="Max")
    for answer, text, manager in (("a1", "x", "max"), ("a2", "x", "ada"), ("a2", "", "ada"), ("unheard", "x", "ada")):
        with pytest.raises(NotFound, match=texts.NO_ANSWER):  # the same for what exists and what does not
            await do(workspace, requests.VerifyAnswer(answer, text), Completed, manager)
    await ask(workspace, "a3", "Who is in the attic at night?", SECRET_SOURCE)
    await workspace.context.store.feedback.record("a3", "bob", up=False)
    for person, text in (("max", ""), ("ada", "On Monday. [1]")):
        listed = await do(workspace, requests.ListQuestions(), QuestionList, person)
        assert [each.text for each in listed.questions] == [text]
    with pytest.raises(EngineError):
        await do(workspace, requests.VerifyAnswer("a3"), Completed, "max")


async def test_direct_messages_have_settings_of_their_person_alone(workspace: Workspace) -> None:
    room = (await workspace.platform.open_direct("T1", "bob")).room
    change = requests.ChangeChannel(room, (("style", "short"),))
    for person in ("ada", "eve"):
        with pytest.raises(NotFound):
            await do(workspace, change, object, person)
    await do(workspace, change, Completed, "bob")
    shown = await do(workspace, requests.GetChannel(room), ChannelResult, "bob")
    values = {field.name: field.value for _, fields in shown.groups for field in fields}
    assert values["style"] == "short"
    assert "content" not in values  # nothing is read there but files
    with pytest.raises(NotAllowed):
        await do(workspace, requests.GetChannel(ROOF.room), object, "bob")


async def test_a_channel_is_looked_after_as_by_commands(workspace: Workspace, announced: None) -> None:
    del announced
    await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    await workspace.post("bob", "Mina sells tickets.")
    await do(workspace, requests.ForgetChannel(ROOF.room, "files"), Completed)
    assert "minutes.pdf" not in await workspace.titles()
    assert await workspace.titles()
    text = (await do(workspace, requests.BackfillChannel(ROOF.room, 3), Completed)).text
    assert text.startswith("I'm reading the last 3 days")
    await workspace.context.store.channel_settings.save(ROOF.room, ChannelSettings(ingest=False))
    with pytest.raises(InvalidQuestion):
        await do(workspace, requests.BackfillChannel(ROOF.room), object)


async def test_digests_are_scheduled_and_ended(workspace: Workspace) -> None:
    own, channel = requests.SchedulePersonalDigest, requests.ScheduleChannelDigest
    assert "You get no digest." in (await do(workspace, own(), Completed, "bob")).text
    assert "daily 08:00" in (await do(workspace, own("daily 8:00"), Completed, "bob")).text
    assert "daily 08:00" in (await do(workspace, channel(ROOF.room, "daily 8:00"), Completed)).text
    assert "daily 08:00" in await workspace.text("bob", "digest")
    assert "no more digests" in (await do(workspace, channel(ROOF.room, "off"), Completed)).text
    with pytest.raises(InvalidQuestion):
        await do(workspace, own("every full moon"), object, "bob")


async def test_experts_are_named_listed_and_asked_no_more(workspace: Workspace) -> None:
    await do(workspace, requests.AddExpert(ROOF.room, "bob", "  Roof   tiles "), Completed)
    listed = await do(workspace, requests.ListExperts(ROOF.room), Listing, "bob")
    assert listed.rows == (("bob", "Bob", "roof tiles"),)
    await do(workspace, requests.RemoveExpert(ROOF.room, "bob", "roof tiles"), Completed, "bob")
    assert (await do(workspace, requests.ListExperts(ROOF.room), Listing)).rows == ()


async def test_a_message_is_forgotten_by_its_link_as_in_the_chat(workspace: Workspace) -> None:
    message = await workspace.post("bob", "Mina sells tickets.")
    hidden = await workspace.post("ada", "Mina sells the attic.", ATTIC)
    for link, person, error in (
        (workspace.platform.message_link(ROOF, message.id), "eve", NotAllowed),
        (workspace.platform.message_link(ATTIC, hidden.id), "bob", NotFound),
        ("https://elsewhere.example/x", "bob", NotFound),
    ):
        with pytest.raises(error):
            await do(workspace, common.Forget(link), object, person)
    assert len(await workspace.titles()) == 2
    done = await do(workspace, common.Forget(workspace.platform.message_link(ROOF, message.id)), Forgotten, "bob")
    assert (done.room, done.time) == (ROOF.room, message.time)
    assert len(await workspace.titles()) == 1


async def test_names_for_filters_are_those_of_readable_channels(workspace: Workspace) -> None:
    await workspace.post("bob", "Mina sells tickets.")
    await workspace.post("ada", "Mina sells the attic.", ATTIC)
    for person, channels in (("ada", ("attic", "roof")), ("bob", ("roof",))):
        found = await do(workspace, common.ListFilterNames(), FilterNames, person)
        assert found.channels == channels
        assert ("Ada" in found.authors) is (person == "ada")


async def test_a_document_is_read_by_its_title_as_it_is_forgotten(workspace: Workspace) -> None:
    key = await workspace.share("bob", "minutes.pdf", "The roof leaks.")
    await workspace.share("ada", "plans.pdf", "The attic is empty.", ATTIC)
    for words in (key, "Minutes.PDF"):
        assert (await do(workspace, GetDocument(words), DocumentResult, "bob")).document.key == key
    for words in ("plans.pdf", "nothing.pdf"):
        with pytest.raises(NotFound, match=f"There is no document “{words}”."):
            await do(workspace, GetDocument(words), object, "bob")
