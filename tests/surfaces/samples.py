"""What each capability is asked, at each door."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field, replace
from typing import Any

from bot.capabilities import requests
from bot.capabilities.access import requests as tokens
from bot.capabilities.answers import requests as answers
from bot.capabilities.asking import requests as asking
from bot.capabilities.contradictions import requests as disputes
from bot.capabilities.decisions import requests as decisions
from bot.capabilities.documents import requests as documents
from bot.capabilities.erasure import requests as erasure
from bot.capabilities.faq.requests import GetFaq
from bot.capabilities.graph import requests as graph
from bot.capabilities.history.requests import GetHistory
from bot.capabilities.maintenance import requests as maintenance
from bot.capabilities.management import requests as management
from bot.capabilities.readers import requests as readers
from bot.capabilities.sources import requests as sources
from bot.capabilities.watches import requests as watches
from bot.permissions.audience import EMPTY_SCOPE
from bot.store import Subject
from engine.models import Scope

API = "/api/v1"
LOCAL = "console:local"
UNTOOLED = frozenset({"settle-contradiction", "dismiss-contradiction"})  # that no tool of MCP does


@dataclass(frozen=True, slots=True)
class Sample:
    """A request, the same as an HTTP request, as the call of a tool, in the chat and on the command line.

    `words`: of a command of the chat, `argv`: of the program. `everything`: all that there is.
    """

    request: Any
    method: str = ""
    path: str = ""
    body: Any = None
    tool: str = ""
    arguments: dict[str, Any] = field(default_factory=dict)
    everything: Scope = EMPTY_SCOPE
    words: str = ""
    argv: tuple[str, ...] = ()


# What is typed for the samples below, in the chat of the open channel and at the terminal.
WORDS = {
    "summarize": "catch-up 2d",
    "forget": "forget minutes.md",
    "forget-me": "forget-me",
    "receipts": "my-data receipts",
    "verify-receipt": "my-data receipts none",
    "my-data": "my-data",
    "export-my-data": "my-data download",
    "remember-me": "remember-me",
    "status": "status",
    "entity": "graph Mina",
    "duplicates": "duplicates",
    "merge": "correct merge Mino Mina",
    "split": 'correct split Mina "Mina (boat)" --type place',
    "separate": "correct separate Mino Otto",
    "describe": 'correct describe Mina "Sells tickets."',
    "hide": "correct hide Mina",
    "undo": "correct undo none",
    "add-fact": 'correct add Mina "She sells tickets."',
    "questions": "unanswered",
    "history": "history Mina",
    "channel": "settings",
    "change-channel": "settings style short",
    "verify-answer": "correct answer On Friday.",
    "pin-answer": 'pin "When is noon?" "At 12."',
    "verified-answers": "verify list",
    "remove-answer": "verify remove none",
    "forget-channel": "forget channel files now",
    "backfill": "backfill 3",
    "digest": "digest me daily 8:00",
    "channel-digest": "digest daily 8:00",
    "experts": "expert list",
    "add-expert": "expert add <@cleo> ferries",
    "remove-expert": "expert remove <@ada>",
    "list-sources": "connect list",
    "add-source": "connect https://town.example/ now",
    "remove-source": "connect remove none now",
    "sync-source": "connect sync none",
    "pause-source": "connect pause none",
    "list-unread-items": "connect unread none",
    "watch": "watch the tiles",
    "watches": "watches",
    "readers": "readers",
    "decisions": "decisions",
    "contradictions": "contradictions",
    "faq": "faq",
    "report": "report",
    "schedule-report": "report weekly",
    "settle-contradiction": "contradictions settle none older",
    "dismiss-contradiction": "contradictions dismiss none",
    "unwatch": "unwatch all",
}
ARGV = {
    "ask": ("ask", "When does the Gudgeon leave?"),
    "documents": ("documents",),
    "ingest": ("ingest", "/nowhere.md"),
    "forget": ("forget", "minutes"),
    "receipts": ("receipts",),
    "verify-receipt": ("verify", "none"),
    "forget-workspace": ("forget-workspace", "slack:T9"),
    "import": ("import", "slack", "/nowhere"),
    "retry": ("retry",),
    "confirm-retention": ("retention", "confirm"),
    "status": ("status",),
    "entity": ("graph", "Mina"),
    "duplicates": ("duplicates",),
    "history": ("history", "Mina"),
    "merge": ("correct", "merge", "Mino", "Mina"),
    "split": ("correct", "split", "Mina", "Mina (boat)", "--type", "place"),
    "separate": ("correct", "separate", "Mino", "Otto"),
    "describe": ("correct", "describe", "Mina", "Sells tickets."),
    "hide": ("correct", "hide", "Mina"),
    "undo": ("correct", "undo", "none"),
    "add-fact": ("correct", "add", "Mina", "She sells tickets."),
    "usage": ("usage",),
    "health": ("health",),
    "create-token": ("token", "create", "t", "--space", LOCAL),
    "audit-log": ("audit-log",),
    "tokens": ("token", "list"),
    "revoke-token": ("token", "revoke", "none"),
    "list-sources": ("source", "list"),
    "add-source": ("source", "add", "https://town.example/"),
    "remove-source": ("source", "remove", "none", "--yes"),
    "sync-source": ("source", "sync", "none"),
    "pause-source": ("source", "pause", "none"),
    "list-unread-items": ("source", "unread", "none"),
    "watch": ("watch", "the tiles"),
    "watches": ("watches",),
    "readers": ("readers",),
    "decisions": ("decisions",),
    "contradictions": ("contradictions",),
    "faq": ("faq",),
    "settle-contradiction": ("settle-contradiction", "none", "older"),
    "dismiss-contradiction": ("dismiss-contradiction", "none"),
    "unwatch": ("unwatch", "all"),
    "reindex": ("reindex",),
    "verify": ("verify",),
    "export": ("export",),
    "backup": ("backup", "/nowhere/b.tar.gz"),
}


def build_samples(space: str, room: str) -> dict[str, Sample]:
    """A sample for each capability by name; `space` and `room` are those of the open channel."""
    samples = build_requests(space, room)
    return {name: replace(each, words=WORDS.get(name, ""), argv=ARGV.get(name, ())) for name, each in samples.items()}


def build_requests(space: str, room: str) -> dict[str, Sample]:
    """The samples without what is typed."""
    channel = room.replace(":", "%3A")
    everything, tiles = Scope.of(space, LOCAL, "slack:T1:ATTIC"), {"question": "When do the tiles come?"}
    fact = requests.AddFact("Mina", "She sells tickets.", channel=room)
    correct = f"{API}/graph/corrections"
    return {
        "ask": Sample(requests.Ask(tiles["question"]), "POST", f"{API}/query", tiles, "ask", tiles, everything),
        "summarize": Sample(documents.Summarize(), "POST", f"{API}/summaries", {}, "summary", {}),
        "search": Sample(asking.Search("tiles"), "POST", f"{API}/search", {"text": "tiles"}),
        **build_answer_samples(room),
        "documents": Sample(requests.ListDocuments(), "GET", f"{API}/documents", None, "documents"),
        "document": Sample(documents.GetDocument("minutes"), "GET", f"{API}/documents/minutes"),
        "ingest": Sample(requests.Ingest(("/nowhere.md",), LOCAL)),
        "upload-place": Sample(documents.PrepareUpload()),
        "upload": Sample(documents.AddUpload("/nowhere.md", "nowhere.md")),
        "forget": Sample(requests.Forget("minutes"), "DELETE", f"{API}/documents/minutes"),
        "forget-workspace": Sample(requests.ForgetWorkspace("slack", "T9")),
        "import": Sample(requests.ImportHistory("slack", "/nowhere")),
        "retry": Sample(requests.Retry()),
        "confirm-retention": Sample(requests.ConfirmRetention()),
        "my-data": Sample(requests.GetMyData(), "POST", f"{API}/my-data", {}),
        "export-my-data": Sample(requests.ExportMyData(), "GET", f"{API}/my-data.jsonl"),
        "forget-me": Sample(requests.ForgetMe(), "POST", f"{API}/forget-me", {}),
        "receipts": Sample(erasure.ListReceipts(), "POST", f"{API}/receipts", {}),
        "verify-receipt": Sample(erasure.VerifyReceipt("none"), "POST", f"{API}/verify-receipt", {"receipt": "none"}),
        "remember-me": Sample(requests.RememberMe(), "POST", f"{API}/remember-me", {}),
        "status": Sample(requests.GetStatus(), "GET", f"{API}/status"),
        "filters": Sample(requests.ListFilterNames(), "POST", f"{API}/filters", {}),
        "entity": Sample(requests.GetEntity("Mina"), "GET", f"{API}/entities/Mina", None, "entity", {"name": "Mina"}),
        "names": Sample(graph.SearchEntities("Mi"), "GET", f"{API}/entities?search=Mi"),
        "subgraph": Sample(
            graph.GetSubgraph("Mina"), "GET", f"{API}/graph?entity=Mina", None, "neighborhood", {"name": "Mina"}
        ),
        "provenance": Sample(graph.GetProvenance("Mina"), "GET", f"{API}/graph/entity?name=Mina"),
        "history": Sample(
            GetHistory("Mina"), "POST", f"{API}/history", {"subject": "Mina"}, "history", {"subject": "Mina"}
        ),
        "duplicates": Sample(requests.FindDuplicates(5, compare_all=False), "GET", f"{API}/graph/duplicates"),
        "corrections": Sample(graph.ListCorrections(), "GET", correct),
        "merge": Sample(
            requests.Merge("Mino", "Mina"), "POST", correct, {"action": "merge", "name": "Mino", "other": "Mina"}
        ),
        "separate": Sample(
            requests.Separate("Mino", "Otto"), "POST", correct, {"action": "separate", "name": "Mino", "other": "Otto"}
        ),
        "split": Sample(
            requests.Split("Mina", "Mina (boat)", type="place"),
            *("POST", correct, {"action": "split", "name": "Mina", "other": "Mina (boat)", "type": "place"}),
        ),
        "describe": Sample(
            requests.SetDescription("Mina", "Sells tickets."),
            *("POST", correct, {"action": "describe", "name": "Mina", "description": "Sells tickets."}),
        ),
        "hide": Sample(requests.Hide("Mina"), "POST", correct, {"action": "hide", "name": "Mino"}),
        "undo": Sample(requests.UndoCorrection(id="none")),
        "add-fact": Sample(
            fact, "POST", f"{API}/graph/facts", {"name": fact.name, "description": fact.description, "channel": room}
        ),
        "channels": Sample(management.ListChannels(), "GET", f"{API}/channels"),
        "channel": Sample(management.GetChannel(room), "GET", f"{API}/channels/{channel}"),
        "change-channel": Sample(
            management.ChangeChannel(room, (("style", "short"),)),
            *("PATCH", f"{API}/channels/{channel}", {"values": {"style": "short"}}),
        ),
        "questions": Sample(management.ListQuestions(), "GET", f"{API}/questions"),
        **build_channel_samples(room),
        **build_source_samples(room),
        **build_watch_samples(),
        "verify-answer": Sample(
            management.VerifyAnswer("a1", "On Friday."),
            *("POST", f"{API}/questions/a1/verify", {"text": "On Friday."}),
        ),
        "pin-answer": Sample(
            management.PinAnswer(room, "When is noon?", "At 12."),
            *("POST", f"{API}/verified-answers", {"channel": room, "question": "When is noon?", "text": "At 12."}),
        ),
        "verified-answers": Sample(management.ListVerified(room), "GET", f"{API}/verified-answers?room={channel}"),
        "remove-answer": Sample(
            management.RemoveVerified(room, "none"), "DELETE", f"{API}/verified-answers/{channel}/none"
        ),
        "usage": Sample(management.GetUsage(), "GET", f"{API}/usage"),
        "health": Sample(management.GetHealth(), "GET", f"{API}/health/details"),
        "check-token": Sample(tokens.CheckToken("nonsense")),
        "create-token": Sample(tokens.CreateToken("t", Subject(space=LOCAL), ("ask",), 10)),
        "audit-log": Sample(maintenance.ListAudit(), "POST", f"{API}/audit-log", {}),
        "tokens": Sample(tokens.ListTokens()),
        "revoke-token": Sample(tokens.RevokeToken("none")),
        "log-in": Sample(tokens.LogIn("slack", "ada", ("T1",))),
        "log-out": Sample(tokens.LogOut("nonsense")),
        "check-health": Sample(requests.CheckHealth()),
        "reindex": Sample(requests.Reindex()),
        "verify": Sample(requests.Verify()),
        "export": Sample(requests.Export()),
        "backup": Sample(requests.Backup("/nowhere/b.tar.gz")),
    }


def build_answer_samples(room: str) -> dict[str, Sample]:
    """A sample for each capability about answers."""
    requested: dict[str, Any] = {
        "rate-answer": answers.RateAnswer("a1", helpful=True),
        "share-answer": answers.ShareAnswer("p2"),
        "unshare-answer": answers.UnshareAnswer("p2"),
        "shared-answers": answers.ListSharedAnswers(),
        "shared-answer": answers.GetSharedAnswer("link"),
        "answer-actions": management.GetAnswerActions("p1"),
        "ask-expert": management.AskExpert("p1", room, "bob"),
    }
    return {
        name: Sample(request, "POST", f"{API}/{name}", dataclasses.asdict(request))
        for name, request in requested.items()
    }


def build_channel_samples(room: str) -> dict[str, Sample]:
    """A sample for each capability about a channel that doors derive."""
    requested: dict[str, Any] = {
        "forget-channel": management.ForgetChannel(room, "files"),
        "backfill": management.BackfillChannel(room, 3),
        "report": management.GetReport(),
        "schedule-report": management.ScheduleReport("weekly"),
        "digest": management.SchedulePersonalDigest("daily 8:00"),
        "channel-digest": management.ScheduleChannelDigest(room, "daily 8:00"),
        "experts": management.ListExperts(room),
        "add-expert": management.AddExpert(room, "cleo", "ferries"),
        "remove-expert": management.RemoveExpert(room, "ada"),
    }
    return {
        name: Sample(request, "POST", f"{API}/{name}", dataclasses.asdict(request))
        for name, request in requested.items()
    }


def build_watch_samples() -> dict[str, Sample]:
    """A sample for each capability about standing requests, decisions and readers."""
    requested: dict[str, Any] = {
        "watch": watches.AddWatch("the tiles"),
        "watches": watches.ListWatches(),
        "unwatch": watches.EndWatch("all"),
        "decisions": decisions.ListDecisions(),
        "readers": readers.FindReaders(),
        "contradictions": disputes.ListContradictions(),
        "faq": GetFaq(),
        "settle-contradiction": disputes.SettleContradiction("none", "older"),
        "dismiss-contradiction": disputes.DismissContradiction("none"),
    }
    fields = {name: dataclasses.asdict(request) for name, request in requested.items()}
    return {
        name: Sample(
            request, "POST", f"{API}/{name}", fields[name], *(() if name in UNTOOLED else (name, fields[name]))
        )
        for name, request in requested.items()
    }


def build_source_samples(room: str) -> dict[str, Sample]:
    """A sample for each capability about sources outside of the chat."""
    requested: dict[str, Any] = {
        "list-sources": sources.ListSources(),
        "add-source": sources.AddSource("https://town.example/", room, confirmed=True),
        "remove-source": sources.RemoveSource("none", confirmed=True),
        "sync-source": sources.SyncSource("none", forget_missing=True),
        "pause-source": sources.PauseSource("none"),
        "list-unread-items": sources.ListUnreadItems("none"),
    }
    return {
        name: Sample(request, "POST", f"{API}/{name}", dataclasses.asdict(request))
        for name, request in requested.items()
    }
