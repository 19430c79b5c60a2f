from __future__ import annotations

from bot.admin.results import IngestFailure, IngestResult, ProgressUpdate
from bot.cli.documents import INGEST_HELP, ingest_exit_code
from engine import describe_formats


def test_an_ingest_is_a_success_only_if_all_of_it_is_indexed() -> None:
    assert ingest_exit_code([ProgressUpdate("indexing", 1, 1), IngestResult(1, 1, 1, 0.1)]) == 0
    assert ingest_exit_code([IngestResult(1, 0, 0, 0.1, (IngestFailure("a.png", "A picture."),))]) == 1
    assert ingest_exit_code([IngestResult(1, 1, 1, 30.0, trouble="Nobody is there. 1 document waits for it.")]) == 1


def test_the_help_of_ingest_names_all_formats() -> None:
    assert describe_formats() in INGEST_HELP
