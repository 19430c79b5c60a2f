from __future__ import annotations

from bot.admin.results import Advanced, Failure, Ingested
from bot.cli.documents import exit_code


def test_an_ingest_is_a_success_only_if_all_of_it_is_indexed() -> None:
    assert exit_code([Advanced("indexing", 1, 1), Ingested(1, 1, 1, 0.1)]) == 0
    assert exit_code([Ingested(1, 0, 0, 0.1, (Failure("a.png", "A picture."),))]) == 1
    assert exit_code([Ingested(1, 1, 1, 30.0, trouble="Nobody is there. 1 document waits for it.")]) == 1
