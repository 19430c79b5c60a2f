"""Run requests on an open engine: one operation per request type, each yields its results.

The same code runs for a single command, for the terminal chat, and for commands that a running process executes.
"""

from __future__ import annotations

from contextlib import aclosing
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_args

from bot.capabilities import corrections, history_import, maintenance, queries, requests
from bot.capabilities.access import requests as token_requests
from bot.capabilities.access import tokens
from bot.capabilities.access.authorized import perform_authorized
from bot.capabilities.access.question_record import TERMINAL, QuestionRecord
from bot.capabilities.documents import details, uploads
from bot.capabilities.documents import requests as document_requests
from bot.capabilities.documents.summaries import summarize
from bot.capabilities.graph import queries as graph_queries
from bot.capabilities.graph import requests as graph_requests
from bot.capabilities.ingest import ingest
from bot.capabilities.management import operations as management
from bot.capabilities.management.requests import GetHealth, GetUsage, ManagementRequest

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, Callable, Mapping

    from bot.capabilities.requests import OperationRequest
    from bot.capabilities.results import OperationResult
    from bot.context import EngineContext, QuestionMetrics

OPERATIONS: Mapping[type, Callable[[EngineContext, Any], AsyncGenerator[OperationResult]]] = {
    requests.Ask: queries.ask,
    requests.Ingest: ingest.ingest,
    requests.GetStatus: queries.get_status,
    requests.CheckHealth: queries.check_health,
    requests.ListDocuments: queries.list_documents,
    requests.ListFilterNames: queries.list_filter_names,
    requests.GetEntity: queries.get_entity,
    requests.Forget: maintenance.forget,
    requests.ForgetWorkspace: maintenance.forget_workspace,
    requests.Merge: corrections.merge,
    requests.Separate: corrections.separate,
    requests.FindDuplicates: corrections.find_duplicates,
    requests.SetDescription: corrections.set_description,
    requests.Hide: corrections.hide,
    requests.UndoCorrection: corrections.undo_correction,
    requests.AddFact: corrections.add_fact,
    requests.Reindex: maintenance.reindex,
    requests.Verify: maintenance.verify,
    requests.Export: maintenance.export,
    requests.Backup: maintenance.backup,
    requests.ImportHistory: history_import.import_history,
    requests.ConfirmRetention: maintenance.confirm_retention,
    requests.Retry: maintenance.retry,
    graph_requests.SearchEntities: graph_queries.search_entities,
    graph_requests.GetSubgraph: graph_queries.get_subgraph,
    graph_requests.GetProvenance: graph_queries.get_provenance,
    graph_requests.ListCorrections: graph_queries.list_corrections,
    token_requests.CheckToken: tokens.check_token,
    token_requests.CreateToken: tokens.create_token,
    token_requests.ListTokens: tokens.list_tokens,
    token_requests.RevokeToken: tokens.revoke_token,
    token_requests.LogIn: tokens.log_in,
    token_requests.LogOut: tokens.log_out,
    **dict.fromkeys(get_args(ManagementRequest), management.manage),
    GetUsage: management.get_usage,
    GetHealth: management.get_health,
    document_requests.GetDocument: details.get_document,
    document_requests.Summarize: summarize,
    document_requests.PrepareUpload: uploads.prepare_upload,
    document_requests.AddUpload: uploads.add_upload,
}


async def perform_counted(engine_context: EngineContext, request: OperationRequest) -> AsyncGenerator[OperationResult]:
    """Perform a request of this machine and yield its results; a question is counted. Raises EngineError."""
    record = QuestionRecord(_choose_metrics(engine_context, request), engine_context.clock, TERMINAL)
    observed = replace(engine_context, observe_answer=record.observe_answer) if record.counts else engine_context
    try:
        async with aclosing(run_operation(observed, request)) as results:
            async for result in results:
                record.observe_result(result)
                yield result
    except BaseException as error:
        record.observe_error(error)
        raise
    finally:
        record.close()


def _choose_metrics(engine_context: EngineContext, request: OperationRequest) -> QuestionMetrics | None:
    """What counts a request; those of access tokens are counted with their checks."""
    is_question = isinstance(request, requests.Ask | document_requests.Summarize)
    return engine_context.question_metrics if is_question else None


def run_operation(engine_context: EngineContext, request: OperationRequest) -> AsyncGenerator[OperationResult]:
    """Perform a request and yield its results. Raises EngineError."""
    if isinstance(request, requests.Authorized):
        return perform_authorized(engine_context, request, run_operation)
    return OPERATIONS[type(request)](engine_context, request)
