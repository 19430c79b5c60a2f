"""The table of capabilities: what can be done, who may do it, and where it is offered.

Everything that acts for a caller is a row. A request of no row is refused. The chat has further commands of its own
(bot/commands/table.py), which ask for rows here where one exists.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from bot.capabilities import requests
from bot.capabilities.access import requests as tokens
from bot.capabilities.documents import requests as documents
from bot.capabilities.graph import requests as graph
from bot.capabilities.management import requests as management
from bot.capabilities.plugins import load_rows
from bot.capabilities.row import Capability, Limit, Surface, Who
from bot.errors import NotPermitted

if TYPE_CHECKING:
    from bot.store import Permission

CHAT, CLI, HTTP, MCP, PAGE = Surface.CHAT, Surface.CLI, Surface.HTTP, Surface.MCP, Surface.PAGE
PROGRAMS = Surface.PROGRAMS

CHANNEL_ROWS: tuple[tuple[str, type, Who, Permission, str], ...] = (
    ("forget-channel", management.ForgetChannel, Who.CHANNEL_MANAGER, "manage", "forget a channel"),
    ("backfill", management.BackfillChannel, Who.CHANNEL_MANAGER, "manage", "read the history of a channel"),
    ("digest", management.SchedulePersonalDigest, Who.ANYONE, "write", "regular digests of what you can read"),
    ("channel-digest", management.ScheduleChannelDigest, Who.CHANNEL_MANAGER, "manage", "regular digests of a channel"),
    ("experts", management.ListExperts, Who.ANYONE, "read", "people to ask in a channel"),
    ("add-expert", management.AddExpert, Who.CHANNEL_MANAGER, "manage", "name a person to ask in a channel"),
    ("remove-expert", management.RemoveExpert, Who.CHANNEL_MANAGER, "write", "ask a person no more in a channel"),
)

ROWS = (
    # Questions.
    Capability("ask", requests.Ask, ".asking.queries:ask", CLI | PROGRAMS, permission="ask", limits=Limit.QUESTIONS),
    Capability(
        "summarize",
        documents.Summarize,
        ".documents.summaries:summarize",
        HTTP | MCP,
        permission="ask",
        limits=Limit.QUESTIONS,
    ),
    # Documents.
    Capability(
        "documents", requests.ListDocuments, ".asking.queries:list_documents", CLI | PROGRAMS, permission="read"
    ),
    Capability("document", documents.GetDocument, ".documents.details:get_document", PROGRAMS, permission="read"),
    Capability("ingest", requests.Ingest, ".ingest.ingest:ingest", CLI, Who.OWNER),
    Capability(
        "upload-place", documents.PrepareUpload, ".documents.uploads:prepare_upload", HTTP | PAGE, permission="write"
    ),
    Capability("upload", documents.AddUpload, ".documents.uploads:add_upload", HTTP | PAGE, permission="write"),
    Capability("forget", requests.Forget, ".documents.forget:forget", CHAT | CLI | HTTP | PAGE, permission="write"),
    Capability(
        "forget-workspace", requests.ForgetWorkspace, ".maintenance.operations:forget_workspace", CLI, Who.OWNER
    ),
    Capability("import", requests.ImportHistory, ".ingest.history_import:import_history", CLI, Who.OWNER),
    Capability("retry", requests.Retry, ".maintenance.operations:retry", CLI, Who.OWNER),
    Capability(
        "confirm-retention", requests.ConfirmRetention, ".maintenance.operations:confirm_retention", CLI, Who.OWNER
    ),
    Capability("status", requests.GetStatus, ".asking.queries:get_status", CLI | HTTP | PAGE, permission="read"),
    Capability(
        "filters",
        requests.ListFilterNames,
        ".asking.queries:list_filter_names",
        CLI | HTTP,
        permission="read",
        summary="channels and people by whose names questions can be filtered",
        derived=HTTP,
    ),
    *(
        Capability(
            name,
            request,
            f".privacy:{name.replace('-', '_')}",
            CHAT | HTTP,
            permission="write",
            summary=summary,
            derived=HTTP,
        )
        for name, request, summary in (
            ("forget-me", requests.ForgetMe, "forget what you wrote"),
            ("remember-me", requests.RememberMe, "read what you write again"),
        )
    ),
    # The graph.
    Capability("entity", requests.GetEntity, ".asking.queries:get_entity", CLI | PROGRAMS, permission="read"),
    Capability("names", graph.SearchEntities, ".graph.queries:search_entities", HTTP | PAGE, permission="read"),
    Capability("subgraph", graph.GetSubgraph, ".graph.queries:get_subgraph", PROGRAMS, permission="read"),
    Capability("provenance", graph.GetProvenance, ".graph.queries:get_provenance", HTTP | PAGE, permission="read"),
    Capability(
        "duplicates",
        requests.FindDuplicates,
        ".graph.corrections:find_duplicates",
        CHAT | CLI | HTTP,
        permission="read",
    ),
    Capability(
        "corrections",
        graph.ListCorrections,
        ".graph.queries:list_corrections",
        HTTP | PAGE,
        Who.CORRECTOR,
        "manage",
    ),
    *(
        Capability(name, request, f".graph.corrections:{handler}", CHAT | CLI | HTTP | PAGE, Who.CORRECTOR, "manage")
        for name, request, handler in (
            ("merge", requests.Merge, "merge"),
            ("separate", requests.Separate, "separate"),
            ("describe", requests.SetDescription, "set_description"),
            ("hide", requests.Hide, "hide"),
        )
    ),
    Capability(
        "undo", requests.UndoCorrection, ".graph.corrections:undo_correction", HTTP | PAGE, Who.CORRECTOR, "manage"
    ),
    Capability("add-fact", requests.AddFact, ".graph.corrections:add_fact", CHAT | CLI | HTTP, permission="write"),
    # Management of a workspace.
    *(
        Capability(name, request, ".management.operations:manage", HTTP | PAGE, Who.MANAGER, "manage")
        for name, request in (
            ("channels", management.ListChannels),
            ("questions", management.ListQuestions),
        )
    ),
    *(
        Capability(name, request, ".management.operations:manage", HTTP | PAGE, Who.CHANNEL_MANAGER, "manage")
        for name, request in (
            ("channel", management.GetChannel),
            ("change-channel", management.ChangeChannel),
        )
    ),
    *(
        Capability(
            name, request, ".management.operations:manage", CHAT | HTTP, who, permission, summary=summary, derived=HTTP
        )
        for name, request, who, permission, summary in CHANNEL_ROWS
    ),
    *(
        Capability(name, request, ".management.operations:manage", HTTP | PAGE, Who.REVIEWER, "write")
        for name, request in (
            ("verify-answer", management.VerifyAnswer),
            ("pin-answer", management.PinAnswer),
            ("verified-answers", management.ListVerified),
            ("remove-answer", management.RemoveVerified),
        )
    ),
    Capability(
        "usage", management.GetUsage, ".management.operations:get_usage", CLI | HTTP | PAGE, Who.MANAGER, "manage"
    ),
    Capability(
        "health", management.GetHealth, ".management.operations:get_health", CLI | HTTP | PAGE, Who.MANAGER, "manage"
    ),
    # Access.
    Capability("check-token", tokens.CheckToken, ".access.tokens:check_token", HTTP, Who.OWNER),
    Capability("create-token", tokens.CreateToken, ".access.tokens:create_token", CLI, Who.OWNER),
    Capability("tokens", tokens.ListTokens, ".access.tokens:list_tokens", CLI, Who.OWNER),
    Capability("revoke-token", tokens.RevokeToken, ".access.tokens:revoke_token", CLI, Who.OWNER),
    Capability("log-in", tokens.LogIn, ".access.tokens:log_in", PAGE, Who.OWNER),
    Capability("log-out", tokens.LogOut, ".access.tokens:log_out", PAGE, Who.OWNER),
    # The data directory.
    Capability("check-health", requests.CheckHealth, ".asking.queries:check_health", HTTP, Who.OWNER),
    Capability("reindex", requests.Reindex, ".maintenance.operations:reindex", CLI, Who.OWNER),
    Capability("verify", requests.Verify, ".maintenance.operations:verify", CLI, Who.OWNER),
    Capability("export", requests.Export, ".maintenance.operations:export", CLI, Who.OWNER),
    Capability("backup", requests.Backup, ".maintenance.operations:backup", CLI, Who.OWNER),
)


@cache
def list_rows() -> tuple[Capability, ...]:
    """All capabilities: those of the program, and those of installed packages. Raises BadSetting."""
    return (*ROWS, *load_rows(ROWS))


def find_row(request: type) -> Capability:
    """The capability of a type of request. Raises NotPermitted for what is none."""
    found = next((each for each in list_rows() if each.request is request), None)
    if found is None:
        raise NotPermitted(f"“{request.__name__}” is no capability.")
    return found
