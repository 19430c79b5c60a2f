from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any, get_args

import pytest

from bot.capabilities import requests, results
from bot.capabilities.access import requests as token_requests
from bot.capabilities.answers.requests import (
    AnswerShared,
    GetSharedAnswer,
    ListSharedAnswers,
    RateAnswer,
    ShareAnswer,
    SharedAnswer,
    SharedLink,
    SharedList,
    UnshareAnswer,
)
from bot.capabilities.asking.requests import Search, SearchHit, SearchResult
from bot.capabilities.contradictions import requests as disputes
from bot.capabilities.decisions.requests import DecisionList, ListDecisions
from bot.capabilities.documents import requests as document_requests
from bot.capabilities.erasure import requests as erasure_requests
from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.graph import requests as graph_requests
from bot.capabilities.history.requests import GetHistory, HistoryResult
from bot.capabilities.maintenance import requests as maintenance_requests
from bot.capabilities.maintenance.requests import AuditList, AuditRow, ChannelCount, MyData
from bot.capabilities.management import requests as management_requests
from bot.capabilities.management import results as management_results
from bot.capabilities.readers import requests as reader_requests
from bot.capabilities.readers.requests import ReadersFound
from bot.capabilities.requests import OperationRequest
from bot.capabilities.results import OperationResult
from bot.capabilities.sources import requests as source_requests
from bot.capabilities.watches import requests as watch_requests
from bot.monitoring.report import HealthState
from bot.platform.forms import FormField, FormOption
from bot.rpc import codec
from bot.store import AccessToken, Subject
from engine import CorrectionChange, EntitySummary, FactProvenance, ManualCorrection, Subgraph
from engine.errors import DataDirInUse, EmbedderMismatch, EngineError, NotFound
from engine.knowledge.duplicates.report import Duplicate, DuplicateReport, Homonym, HomonymSense
from engine.llm.offline.supersession.history import Step
from engine.models import ChatTurn, Context, ContextEntity, ContextRelation, LLMMessage, Omission, Passage, SearchQuery
from engine.retrieval.graph.records import StatedFact, SubgraphEdge, SubgraphNode
from engine.storage.ledger.records.query_results import IndexProblem, IndexStatus
from engine.usage import Usage
from tests.support.builders import make_listed, make_source

NOON = datetime(2026, 5, 12, 12, tzinfo=UTC)
SOURCE = make_source(text="Tea “ü”\n")
TOKEN = AccessToken("1", "n", Subject(space="s"), ("ask", "read"), 60, NOON, None, NOON)
ADA, MET = ContextEntity("A", "t", "d", (1,)), ContextRelation("A", "B", "k", "d", 2.0, (1,))
CHANGE = CorrectionChange((ManualCorrection("merge", "s", "Mina", "Ada", ""),), (), ("Ada",))
CHANNEL = management_results.ChannelEntry("slack:T1:C1", "roof", "open", is_read=True, documents=3)
RECEIPT = {"id": "5f0c", "counts": {"documents": 1}, "erased": {"documents": ["x"]}}
REQUESTS: list[OperationRequest] = [
    Search("tiles", "roof", type="file", offset=20),
    ShareAnswer("a"),
    UnshareAnswer("a"),
    ListSharedAnswers(),
    GetSharedAnswer("s"),
    RateAnswer("a", helpful=False, reason="wrong", comment="No."),
    source_requests.ListSources(),
    source_requests.AddSource(
        "https://kiln.example", "C1", "kiln", source_kind="website", confirmed=True, minutes=9, options=(("a", "b"),)
    ),
    erasure_requests.ListReceipts("r1"),
    erasure_requests.VerifyReceipt("{}", erase_again=True),
    source_requests.RemoveSource("kiln", confirmed=True),
    source_requests.SyncSource("kiln", forget_missing=True),
    source_requests.PauseSource("kiln", paused=False),
    source_requests.ListUnreadItems("kiln"),
    watch_requests.AddWatch("the fence"),
    watch_requests.ListWatches(),
    reader_requests.FindReaders("minutes.md"),
    ListDecisions("roof", state="open", as_csv=True),
    GetHistory("the roof"),
    watch_requests.EndWatch("the fence"),
    GetFaq("slack:T1:C1"),
    management_requests.GetReport(),
    management_requests.ScheduleReport("weekly"),
    disputes.ListContradictions(),
    disputes.SettleContradiction("c1", "older"),
    disputes.DismissContradiction("c1"),
    management_requests.GetAnswerActions("a"),
    management_requests.AskExpert("a", "r", "p"),
    requests.Ask("Why?", "local", (ChatTurn("user", "Hm"),), "prompt", ("d",), ("r",), ("a",), NOON, None, "m"),
    requests.Ingest(("/a", "/b"), "s", "files"),
    requests.Ingest(("/a",), "s", estimate=True),
    requests.GetStatus(with_sandbox=True),
    requests.ListDocuments("tea", "indexed", 1, 2),
    requests.GetMyData(),
    requests.ExportMyData(),
    requests.ForgetMe(),
    requests.RememberMe(),
    requests.ListFilterNames(),
    requests.GetEntity("Ada", 5),
    requests.Forget("x", "/a"),
    requests.ForgetWorkspace("slack", "T1"),
    requests.Merge("a", "b", "s"),
    requests.Separate("a", "b", "s"),
    requests.Split("a", "b", "person", "d", "s"),
    requests.FindDuplicates(5),
    requests.SetDescription("a", "words", "b", "s"),
    requests.Hide("a", hidden=False, space="s"),
    requests.UndoCorrection(CHANGE, "s"),
    requests.AddFact("a", "words", type="person", channel="slack:T1:C1"),
    requests.Reindex(),
    requests.Verify(repair=True),
    requests.Export("graphml"),
    requests.Backup("/b"),
    requests.ImportHistory("slack", "/e.zip", "T1", "https://t.example", direct_messages=True),
    requests.ConfirmRetention(),
    requests.Retry(),
    requests.CheckHealth(),
    requests.AtSpace("s", requests.GetEntity("Ada")),
    requests.WithoutLogin("s", requests.GetEntity("Ada")),
    requests.Authorized("tl_1_x", requests.GetEntity("Ada")),
    token_requests.CheckToken("tl_1_x"),
    token_requests.CreateToken("n", Subject("slack", "T1", "U1"), ("ask",), 60, 3),
    token_requests.ListTokens(),
    maintenance_requests.ListAudit(10, 7, "ask", "slack:T1:U1"),
    token_requests.RevokeToken("1"),
    token_requests.LogIn("slack", "U1", ("T1",), with_guests=True),
    token_requests.LogOut("tl_1_x"),
    document_requests.Summarize("roof", "k", NOON, None, "digest"),
    management_requests.ListChannels(),
    management_requests.GetChannel("slack:T1:C1"),
    management_requests.ChangeChannel("slack:T1:C1", (("mode", "local"),)),
    management_requests.ListQuestions("slack:T1:C1"),
    management_requests.VerifyAnswer("a", "At noon."),
    management_requests.PinAnswer("slack:T1:C1", "When?", "At noon."),
    management_requests.ListVerified(),
    management_requests.RemoveVerified("slack:T1:C1", "v"),
    management_requests.ForgetChannel("slack:T1:C1", "files"),
    management_requests.BackfillChannel("slack:T1:C1", 3),
    management_requests.SchedulePersonalDigest("daily 8:00"),
    management_requests.ScheduleChannelDigest("slack:T1:C1", "off"),
    management_requests.ListExperts("slack:T1:C1"),
    management_requests.AddExpert("slack:T1:C1", "U1", "tiles"),
    management_requests.RemoveExpert("slack:T1:C1", "U1"),
    management_requests.GetUsage(7),
    management_requests.GetHealth(),
    document_requests.GetDocument("k", 1, 2),
    document_requests.PrepareUpload(),
    document_requests.AddUpload("/u/1", "a.txt"),
    graph_requests.SearchEntities("ad", 5),
    graph_requests.GetSubgraph("Ada", 2, 9, ("person",), NOON),
    graph_requests.GetProvenance("Ada", "B"),
    graph_requests.ListCorrections(5),
]
EVENTS: list[OperationResult] = [
    HistoryResult("the roof", (Step("said", 1, "It leaks."),), (SOURCE,), has_more=True),
    DecisionList(("kind",), (("task",),), "2026-11-20 10:00 UTC"),
    results.AnswerDelta("a “b”\n"),
    results.AnswerEnd((SOURCE,), (Usage("answer", "m", 1, 2, 0.5),)),
    AnswerShared("s"),
    SharedAnswer("Q?", "A. [1]", (SOURCE,), "Ada", NOON, "a"),
    SharedList((SharedLink("s", "a", "Q?", NOON),)),
    SearchResult(
        (SearchHit(SOURCE, "file", (("The ", False), ("ferry", True))),), 1, corrected=("ferry",), gap="partial"
    ),
    management_results.AnswerActions(
        *("Q?", "A."),
        has_sources=True,
        places=(management_results.ReviewPlace("r", "roof", is_closed=False),),
        experts=(management_results.ExpertChoice("p", "P", "tiles", "r", "roof"),),
    ),
    results.ContextResult(Context(SearchQuery("q", ("h",), ("l",)), "mix", (ADA,), (MET,), (SOURCE,), {"search": 1.5})),
    results.PromptResult((LLMMessage("system", "x"),)),
    results.ProgressUpdate("parsing", 1, 2),
    results.IngestResult(1, 2, 1, 0.5, (results.IngestFailure("a", "b", "c"),)),
    results.EstimateResult(3, 4, 100, is_whole=False, model="m", tokens=400, seconds=60.0, dollars=None),
    results.HistoryImportResult(1, 2, 1, 0, 3, 0.5, (("notices", 4),)),
    results.StatusResult(IndexStatus({"indexed": 3}, 1, 2, 3, 4, 5, 6, 7)),
    results.StatusResult(
        IndexStatus({"indexed": 3}, 1, 2, 3, 4, 5, 6, 7), None, (IndexProblem("k", "t", "rowless", "e", "h", 2),)
    ),
    HealthState("degraded", ("The disk is full.",), is_ready=False),
    results.DocumentList((make_listed("k", time=NOON, omissions=(Omission("p. 3", "no"),), coverage="2 of 3 pages"),)),
    results.FilterNames(("roof",), ("Ada",)),
    results.EntityResult(ADA, ()),
    results.DuplicatesResult(
        DuplicateReport(
            (),
            (Duplicate("s", "a", "b", is_joined=True, score=1, spelling=90.0),),
            2,
            (Homonym("s", "a", (HomonymSense("person", 2, "text"),)),),
        )
    ),
    results.VerifyResult(("x",), repaired=True, audit_entries=3, audit_problem="entry 4 is missing"),
    MyData((ChannelCount("r", "roof", 2),), 1, (("question", 3),), ("tiles",), is_read=True),
    AuditList(
        (AuditRow(3, NOON, "ask", "answered", "chat", "slack:T1:U1", "", "slack:T1", "r", "{}", "ab"),),
        3,
        "ab",
    ),
    results.ExportLine("{}"),
    results.SourceReport("kiln", "3 files", 2, 1, 0.5, trouble="A drive is missing."),
    results.Completed("Well."),
    results.Forgotten("Well.", "t", 1, "r", NOON, receipt=RECEIPT),
    results.Erased("Well.", RECEIPT),
    results.ErasureRehearsal("Well.", {"documents": 1}, ("When?",)),
    results.ReceiptFound("Well.", RECEIPT),
    results.ReceiptChecked("Well.", {"documents": 1}, erased_again=True),
    results.Listing(("Name",), (("Ada",),)),
    ReadersFound("Well. 1 guest: Gus.", "workspace", 1, ("Gus",), "1 guest: Gus."),
    results.Corrected("Well.", "s", CHANGE),
    results.CorrectionMade("s", CHANGE),
    results.FactAdded("Well.", "k"),
    results.TokenCreated(TOKEN, "tl_1_x"),
    results.TokenChecked(TOKEN),
    results.TokenList((TOKEN,)),
    management_results.WorkspaceChannels((CHANNEL,)),
    management_results.ChannelResult(
        CHANNEL, (("Answers", (FormField("mode", "Mode", "choice", "mix", (FormOption("mix", "mix"),)),)),)
    ),
    management_results.QuestionList(
        (management_results.QuestionEntry("a", "When?", "r", "roof", NOON, "", 2, 1, ("Ada",), ("Old",), "At noon."),)
    ),
    management_results.VerifiedList(
        (management_results.VerifiedEntry("v", "r", "roof", "When?", "At noon.", "Ada", NOON, ""),)
    ),
    management_results.UsageReport("slack:T1", (management_results.DayUsage(NOON.date(), 1, 2, 0.5, 3, 4),)),
    management_results.HealthReport(
        "ok", (), "1", (management_results.PlatformState("slack", None),), (("answers", "m"),), 0, 1.5
    ),
    document_requests.DocumentResult(make_listed("k", time=NOON), (Passage("1", "Tea.", "p. 1", time=NOON),)),
    document_requests.UploadPlace("/u", 5),
    document_requests.UploadResult((make_listed("k"),), changed=True),
    graph_requests.EntityList((EntitySummary("a", "A", "t", 2, 3),)),
    graph_requests.SubgraphResult(
        Subgraph((SubgraphNode("a", "A", "t", "d", 0, 1, 1),), (SubgraphEdge("a", "b", "k", "d", 2),), spaces=("s",))
    ),
    graph_requests.ProvenanceResult(
        FactProvenance(ADA, MET, ("A",), (StatedFact("A", "t", "d", NOON, (1,)),), (SOURCE,), ("s",))
    ),
    graph_requests.CorrectionList(("s",), (ManualCorrection("hide", "s", "a", "", ""),)),
]


def test_every_kind_of_request_and_event_is_tried_here() -> None:
    assert {type(request) for request in REQUESTS} == set(get_args(OperationRequest))
    assert {type(event) for event in EVENTS} == set(get_args(OperationResult))


@pytest.mark.parametrize("record", [*REQUESTS, *EVENTS], ids=lambda record: type(record).__name__)
def test_a_record_comes_over_whole_and_on_one_line(record: Any) -> None:
    line = codec.encode(record)
    assert line.index(b"\n") == len(line) - 1
    assert (codec.parse_request if record in REQUESTS else codec.parse_result)(line) == record


def test_no_record_shows_a_token_to_a_log() -> None:
    assert "tl_1_x" not in repr([*REQUESTS, *EVENTS])


@pytest.mark.parametrize(
    "error", [NotFound("Nothing.", hint="Look."), DataDirInUse("In use."), EmbedderMismatch("Other.")]
)
def test_an_error_is_raised_on_the_other_side_as_it_was(error: EngineError) -> None:
    with pytest.raises(type(error)) as caught:
        codec.parse_result(codec.encode_error(error))
    assert (str(caught.value), caught.value.hint) == (str(error), error.hint)


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense\n",
        b"[]\n",
        b"{}\n",
        b'{"kind": "Unheard"}\n',
        b'{"kind": "Ask", "text": 3}\n',
        b'{"kind": "AtSpace", "space": "s"}\n',
        b'{"kind": "AtSpace", "space": 3, "request": {"kind": "Reindex"}}\n',
        b'{"kind": "AtSpace", "request": {"kind": "Reindex"}}\n',
        b'{"kind": "WithoutLogin", "token": "s", "request": {"kind": "Reindex"}}\n',
        b'{"kind": "Authorized", "token": "t", "space": "s", "request": {"kind": "Reindex"}}\n',
        b'{"kind": "Authorized", "token": "t", "request": {"kind": "Authorized", "token": "t", "request": {}}}\n',
    ],
)
def test_a_line_that_is_no_request_is_refused(line: bytes) -> None:
    with pytest.raises(codec.ProtocolError):
        codec.parse_request(line)


def test_an_error_of_a_foreign_name_is_still_an_error() -> None:
    line = json.dumps({"kind": "Error", "name": "annotations", "message": "Hm."}).encode()
    with pytest.raises(EngineError, match=r"Hm\."):
        codec.parse_result(line)
