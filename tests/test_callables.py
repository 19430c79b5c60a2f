"""Callables that are handed to a class are calls that no arrow between modules shows; each has a reason."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support.source_trees import list_modules, list_nodes

# Upward calls: what a part asks of whoever made it.
UPWARD = {
    "AnswerCorrector.sleep": "tests pass time",
    "AnswerFrame.can_show": "the audience of an answer may change before each write",
    "AnswerFrame.citation_urls": "the cited sources grow while the answer is streamed",
    "BotParts.open_ingest": "a question needs nothing of what changes documents",
    "CallObservers.call": "calls are measured by the program",
    "CallObservers.outcome": "outcomes are counted by the program",
    "CircuitBreaker.is_fault": "what is a fault depends on the kind of call",
    "DigestWriter.pending_syncs": "a digest waits for channels that are still being read",
    "DiskReserve.find_disk": "tests have disks of their own",
    "Dispatcher.retry_visibility": "a change that cannot be handled is tried again by the bot",
    "EventClaims.serves": "which workspaces are connected is known above the queue",
    "EventClaims.wake": "the queue sleeps while nothing is claimed",
    "Extractor.exceeds": "the model counts tokens",
    "Extractor.observe": "outcomes are counted by the program",
    "ExtractStep.wake": "the worker sleeps while there is nothing to do",
    "FileAccess.make_room": "the data directory keeps the reserve of the disk",
    "FilterLookup.find_rooms": "names of channels are known to the bot alone",
    "IndexingBudget.load": "usage is stored in the ledger, which is above scheduling",
    "IndexingLimits.find_workspace": "names of workspaces are known to the bot alone",
    "JudgedCalls.observe": "outcomes are counted by the program",
    "LimitedProbe.ask": "what is asked belongs to the mode of the program",
    "LiteLLMPictureDescriber.record_usage": "usage is counted by the engine",
    "PageFetcher.is_public": "tests fetch from this machine",
    "PageFetcher.resolve": "tests have names of their own",
    "ParserProcess.note_sandbox": "what bounds parsers is told to the probe",
    "PlatformConnection.adapter": "adapters are plug-ins",
    "PlatformTraits.reads_past": "whose workspaces these are is known to the adapter alone",
    "Screen.hint": "what is hinted at depends on the settings",
    "SharedAudiences.invalidate": "cached audiences are above the shared table",
    "StoreMaintenance.remove_leftovers": "leftovers are those of the data directory",
    "StreamingReply.save_reply_ref": "a reply is stored by whoever asked for it",
    "_ServiceOpener.hand_over": "the program decides whether it leaves the data directory to a bot",
}
# Functions of values: rows of tables, conversions, and what one class does for several databases or models.
OF_VALUES = {
    *("RowBudget.measure", "SourceChoice.measure", "SourceKind.matches"),
    "_Chosen.check",  # of the kind of its role; a remembered one is not made
    *("Command.handler", "FormKind.build", "FormKind.submit", "FormKind.find_errors", "PlatformTraits.parse_link_part"),
    *(
        "EngineContext.count_tokens",
        "LiteLLMModel.count_tokens",
        "ProfileBuilder.count_tokens",
        "Summarizer.count_tokens",
    ),
    *(
        "GroupCommit.run_transaction",
        "GroupCommit.translate_error",
        "GroupCommit.is_undone",
        "GroupCommit.is_of_server",
    ),
    *("PackedFile.unpack", "RowCommand.exit_code", "_ServiceApi.read"),
    *("TopicMethod.function", "MemoryCopy.load", "MemoryCopy.improve", "SharedCallLimits.execute"),
    *("VectorCopies.connect", "WordCopies.connect", "WordCopy.want"),  # connections of the store that is copied
}


def list_callables() -> Iterator[str]:
    """The fields and parameters of constructors that are callables, as `Class.name`."""
    for path in list_modules("engine", "bot"):
        for node in list_nodes(path):
            if isinstance(node, ast.ClassDef):
                yield from (f"{node.name}.{name}" for name in list_fields(node))


def list_fields(node: ast.ClassDef) -> Iterator[str]:
    for text in node.body:
        if isinstance(text, ast.AnnAssign) and isinstance(text.target, ast.Name) and is_callable(text.annotation):
            yield text.target.id
        if isinstance(text, ast.FunctionDef) and text.name == "__init__":
            parameters = (*text.args.args, *text.args.kwonlyargs)
            yield from (every.arg for every in parameters if every.annotation and is_callable(every.annotation))


def is_callable(annotation: ast.expr) -> bool:
    """Whether an annotation is Callable itself, or Callable or None."""
    text = ast.unparse(annotation)
    return text.startswith("Callable[")


def test_every_callable_that_a_class_is_given_has_a_reason() -> None:
    assert set(list_callables()) == {*UPWARD, *OF_VALUES}
