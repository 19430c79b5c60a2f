"""Questions to a data folder that holds no document."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from bot.admin.document_lookup import LOCAL_SPACE
from bot.admin.requests import Ask
from engine.errors import NotFound

if TYPE_CHECKING:
    from tests.bot.conftest import Perform


@pytest.mark.parametrize("text", ["When does the Gudgeon leave?", "What was decided lately?"])
async def test_an_empty_folder_says_that_nothing_was_ingested_and_how_to(perform: Perform, text: str) -> None:
    with pytest.raises(NotFound, match="There are no documents yet") as caught:
        await perform(Ask(text, (LOCAL_SPACE,)))
    assert "threadlore ingest" in caught.value.hint


async def test_a_question_to_the_model_alone_needs_no_document(perform: Perform) -> None:
    assert await perform(Ask("Hello?", (LOCAL_SPACE,), mode="bypass"))


@pytest.mark.usefixtures("taken_in")
async def test_nothing_found_among_documents_is_no_empty_folder(perform: Perform) -> None:
    assert await perform(Ask("Xyzzy plugh?", (LOCAL_SPACE,), mode="naive"))
