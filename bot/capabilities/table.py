"""The table of capabilities: what can be done, who may do it, and where it is offered.

Everything that acts for a caller is a row. A request of no row is refused. The chat has further commands of its own
(bot/commands/table.py), which ask for rows here where one exists.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

from bot.capabilities import requests
from bot.capabilities.access import requests as tokens
from bot.capabilities.answers.rows import ANSWER_ROWS
from bot.capabilities.asking import requests as asking
from bot.capabilities.contradictions.rows import CONTRADICTION_ROWS
from bot.capabilities.decisions.rows import DECISION_ROWS
from bot.capabilities.documents import requests as documents
from bot.capabilities.erasure.rows import ERASURE_ROWS
from bot.capabilities.faq.rows import FAQ_ROWS
from bot.capabilities.graph.rows import GRAPH_ROWS
from bot.capabilities.history.rows import HISTORY_ROWS
from bot.capabilities.kept import (
    KEPT_ACCESS,
    KEPT_ASK,
    KEPT_AUDIT,
    KEPT_CHANNEL,
    KEPT_DOCUMENTS,
    KEPT_FILTERS,
    KEPT_FORGET,
    KEPT_MY_DATA,
    KEPT_OPERATION,
    KEPT_OWNER,
    KEPT_PROBE,
    KEPT_READING,
    KEPT_SEARCH,
    KEPT_STEP,
    KEPT_SUMMARIZE,
    KEPT_UPLOAD,
    KEPT_VERIFIED,
)
from bot.capabilities.maintenance.requests import ListAudit
from bot.capabilities.management import requests as management
from bot.capabilities.plugins import load_rows
from bot.capabilities.readers.rows import READER_ROWS
from bot.capabilities.row import Capability, Limit, Surface, Who
from bot.capabilities.sources.rows import SOURCE_ROWS
from bot.capabilities.watches.rows import WATCH_ROWS
from bot.errors import NotPermitted

if TYPE_CHECKING:
    from bot.store import Permission

CHAT, CLI, HTTP, MCP, PAGE = Surface.CHAT, Surface.CLI, Surface.HTTP, Surface.MCP, Surface.PAGE
PROGRAMS = Surface.PROGRAMS

# Of what the audit log has an entry: changes, copies of the data, and who looked at the log. Questions and searches
# have one, too.
AUDITED = frozenset(
    {
        *("ingest", "upload", "import", "forget", "forget-workspace", "forget-channel", "forget-me", "remember-me"),
        "export-my-data",
        *("confirm-retention", "merge", "separate", "split", "describe", "hide", "undo", "add-fact", "change-channel"),
        *("backfill", "digest", "channel-digest", "add-expert", "remove-expert", "verify-answer", "pin-answer"),
        *("remove-answer", "create-token", "revoke-token", "log-in", "export", "backup", "reindex", "audit-log"),
        *("add-source", "remove-source", "sync-source", "pause-source", "share-answer", "unshare-answer", "ask-expert"),
        *("watch", "unwatch", "settle-contradiction", "dismiss-contradiction", "schedule-report"),
    }
)

MANAGE = ".management.operations:manage"
CHANNEL_ROWS: tuple[tuple[str, type, Surface, Who, Permission, str], ...] = (
    ("forget-channel", management.ForgetChannel, CHAT | HTTP, Who.CHANNEL_MANAGER, "manage", "forget a channel"),
    (
        "backfill",
        management.BackfillChannel,
        CHAT | HTTP | PAGE,
        Who.CHANNEL_MANAGER,
        "manage",
        "read the history of a channel",
    ),
    (
        "digest",
        management.SchedulePersonalDigest,
        CHAT | HTTP,
        Who.ANYONE,
        "write",
        "regular digests of what you can read",
    ),
    (
        "channel-digest",
        management.ScheduleChannelDigest,
        CHAT | HTTP,
        Who.CHANNEL_MANAGER,
        "manage",
        "regular digests of a channel",
    ),
    ("experts", management.ListExperts, CHAT | HTTP, Who.ANYONE, "read", "people to ask in a channel"),
    (
        "add-expert",
        management.AddExpert,
        CHAT | HTTP,
        Who.CHANNEL_MANAGER,
        "manage",
        "name a person to ask in a channel",
    ),
    (
        "remove-expert",
        management.RemoveExpert,
        CHAT | HTTP,
        Who.CHANNEL_MANAGER,
        "write",
        "ask a person no more in a channel",
    ),
)

PERSONAL_ROWS: tuple[tuple[str, type, Permission, str], ...] = (
    ("my-data", requests.GetMyData, "read", "how much is stored about you"),
    ("forget-me", requests.ForgetMe, "write", "forget what you wrote"),
    ("remember-me", requests.RememberMe, "write", "read what you write again"),
)

_ROWS = (
    # Questions.
    Capability(
        "ask",
        requests.Ask,
        ".asking.queries:ask",
        CHAT | CLI | PROGRAMS,
        permission="ask",
        limits=Limit.QUESTIONS,
        kept=KEPT_ASK,
    ),
    Capability(
        "search",
        asking.Search,
        ".asking.search:search",
        HTTP | PAGE,
        permission="read",
        summary="search for passages",
        derived=HTTP,
        kept=KEPT_SEARCH,
        searches=True,
    ),
    Capability(
        "summarize",
        documents.Summarize,
        ".documents.summaries:summarize",
        CHAT | HTTP | MCP,
        permission="ask",
        limits=Limit.QUESTIONS,
        kept=KEPT_SUMMARIZE,
    ),
    *ANSWER_ROWS,
    # Documents.
    Capability(
        "documents",
        requests.ListDocuments,
        ".asking.queries:list_documents",
        CLI | PROGRAMS,
        permission="read",
        kept=KEPT_DOCUMENTS,
    ),
    Capability(
        "document",
        documents.GetDocument,
        ".documents.details:get_document",
        PROGRAMS,
        permission="read",
        kept=KEPT_READING,
    ),
    Capability("ingest", requests.Ingest, ".ingest.ingest:ingest", CLI, Who.OWNER, kept=KEPT_OWNER),
    Capability(
        "upload-place",
        documents.PrepareUpload,
        ".documents.uploads:prepare_upload",
        HTTP | PAGE,
        permission="write",
        kept=KEPT_STEP,
    ),
    Capability(
        "upload",
        documents.AddUpload,
        ".documents.uploads:add_upload",
        CHAT | HTTP | PAGE,
        permission="write",
        kept=KEPT_UPLOAD,
    ),
    Capability(
        "forget",
        requests.Forget,
        ".documents.forget:forget",
        CHAT | CLI | HTTP | PAGE,
        permission="write",
        kept=KEPT_FORGET,
    ),
    Capability(
        "forget-workspace",
        requests.ForgetWorkspace,
        ".maintenance.operations:forget_workspace",
        CLI,
        Who.OWNER,
        kept=KEPT_OWNER,
    ),
    Capability(
        "import", requests.ImportHistory, ".ingest.history_import:import_history", CLI, Who.OWNER, kept=KEPT_OWNER
    ),
    Capability("retry", requests.Retry, ".maintenance.operations:retry", CLI, Who.OWNER, kept=KEPT_OWNER),
    Capability(
        "confirm-retention",
        requests.ConfirmRetention,
        ".maintenance.operations:confirm_retention",
        CLI,
        Who.OWNER,
        kept=KEPT_OWNER,
    ),
    Capability("status", requests.GetStatus, ".asking.queries:get_status", CHAT | CLI | HTTP | PAGE, permission="read"),
    Capability(
        "filters",
        requests.ListFilterNames,
        ".asking.queries:list_filter_names",
        CLI | HTTP,
        permission="read",
        summary="channels and people by whose names questions can be filtered",
        derived=HTTP,
        kept=KEPT_FILTERS,
    ),
    *(
        Capability(
            name,
            request,
            f".privacy:{name.replace('-', '_')}",
            CHAT | HTTP | PAGE,
            permission=permission,
            summary=summary,
            derived=HTTP,
        )
        for name, request, permission, summary in PERSONAL_ROWS
    ),
    Capability(
        "export-my-data",
        requests.ExportMyData,
        ".privacy:export_my_data",
        CHAT | HTTP | PAGE,
        permission="read",
        kept=KEPT_MY_DATA,
    ),
    *ERASURE_ROWS,
    *READER_ROWS,
    *SOURCE_ROWS,
    *WATCH_ROWS,
    *DECISION_ROWS,
    *CONTRADICTION_ROWS,
    *FAQ_ROWS,
    *GRAPH_ROWS,
    *HISTORY_ROWS,
    # Management of a workspace.
    Capability("channels", management.ListChannels, MANAGE, HTTP | PAGE, Who.MANAGER, "manage", kept=KEPT_CHANNEL),
    Capability("questions", management.ListQuestions, MANAGE, CHAT | HTTP | PAGE, Who.MANAGER, "manage"),
    *(
        Capability(name, request, MANAGE, CHAT | HTTP, Who.MANAGER, "manage", summary=summary, derived=HTTP)
        for name, request, summary in (
            ("report", management.GetReport, "the report of a week"),
            ("schedule-report", management.ScheduleReport, "send that report every week"),
        )
    ),
    *(
        Capability(name, request, MANAGE, CHAT | HTTP | PAGE, Who.CHANNEL_MANAGER, "manage", kept=KEPT_CHANNEL)
        for name, request in (("channel", management.GetChannel), ("change-channel", management.ChangeChannel))
    ),
    *(
        Capability(name, request, MANAGE, surfaces, who, permission, summary=summary, derived=HTTP)
        for name, request, surfaces, who, permission, summary in CHANNEL_ROWS
    ),
    *(
        Capability(name, request, MANAGE, CHAT | HTTP | PAGE, Who.REVIEWER, "write", kept=KEPT_VERIFIED)
        for name, request in (
            ("verify-answer", management.VerifyAnswer),
            ("pin-answer", management.PinAnswer),
            ("verified-answers", management.ListVerified),
            ("remove-answer", management.RemoveVerified),
        )
    ),
    Capability(
        "usage",
        management.GetUsage,
        ".management.operations:get_usage",
        CLI | HTTP | PAGE,
        Who.MANAGER,
        "manage",
        kept=KEPT_OPERATION,
    ),
    Capability(
        "health",
        management.GetHealth,
        ".management.operations:get_health",
        CLI | HTTP | PAGE,
        Who.MANAGER,
        "manage",
        kept=KEPT_OPERATION,
    ),
    # Access.
    Capability("check-token", tokens.CheckToken, ".access.tokens:check_token", HTTP, Who.OWNER, kept=KEPT_ACCESS),
    Capability("create-token", tokens.CreateToken, ".access.tokens:create_token", CLI, Who.OWNER, kept=KEPT_ACCESS),
    Capability("tokens", tokens.ListTokens, ".access.tokens:list_tokens", CLI, Who.OWNER, kept=KEPT_ACCESS),
    Capability("revoke-token", tokens.RevokeToken, ".access.tokens:revoke_token", CLI, Who.OWNER, kept=KEPT_ACCESS),
    Capability("log-in", tokens.LogIn, ".access.tokens:log_in", PAGE, Who.OWNER, kept=KEPT_ACCESS),
    Capability("log-out", tokens.LogOut, ".access.tokens:log_out", PAGE, Who.OWNER, kept=KEPT_ACCESS),
    Capability(
        "audit-log",
        ListAudit,
        ".maintenance.audit_log:list_audit",
        CLI | HTTP,
        Who.AUDITOR,
        "read",
        summary="who asked, changed and copied what",
        derived=HTTP,
        kept=KEPT_AUDIT,
    ),
    # The data directory.
    Capability("check-health", requests.CheckHealth, ".asking.queries:check_health", HTTP, Who.OWNER, kept=KEPT_PROBE),
    Capability("reindex", requests.Reindex, ".maintenance.operations:reindex", CLI, Who.OWNER, kept=KEPT_OWNER),
    Capability("verify", requests.Verify, ".maintenance.operations:verify", CLI, Who.OWNER, kept=KEPT_OWNER),
    Capability("export", requests.Export, ".maintenance.operations:export", CLI, Who.OWNER, kept=KEPT_OWNER),
    Capability("backup", requests.Backup, ".maintenance.operations:backup", CLI, Who.OWNER, kept=KEPT_OWNER),
)
ROWS = tuple(replace(row, audited=row.name in AUDITED) for row in _ROWS)


@cache
def list_rows() -> tuple[Capability, ...]:
    """All capabilities: those of the program, and those of installed packages. Raises BadSetting."""
    return (*ROWS, *load_rows(ROWS))


def get_row(name: str) -> Capability:
    """The capability of the program with this name."""
    return next(row for row in ROWS if row.name == name)


def find_row(request: type) -> Capability:
    """The capability of a type of request. Raises NotPermitted for what is none."""
    found = next((row for row in list_rows() if row.request is request), None)
    if found is None:
        raise NotPermitted(f"“{request.__name__}” is no capability.")
    return found
