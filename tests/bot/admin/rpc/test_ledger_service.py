from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bot.admin.requests import GetStatus, ListDocuments, Verify
from bot.admin.results import DocumentList, StatusResult
from bot.admin.rpc import socket
from bot.admin.rpc.ledger_service import LedgerService, connect_or_open_ledger
from bot.admin.rpc.service import LocalService
from bot.settings import load_settings
from engine.errors import CorruptLedger
from tests.support import echo_language
from tests.support.engine_fixture import doc

if TYPE_CHECKING:
    from bot.admin.requests import OperationRequest
    from bot.admin.results import OperationResult
    from bot.admin.rpc.service import AdminService

ROOT = Path(__file__).parents[4]
HEAVY = {"lancedb", "kuzu", "onnxruntime", "litellm", "numpy", "pyarrow", "tiktoken"}
LOADED = """
import sys
from typer.testing import CliRunner
from bot.__main__ import app
done = CliRunner().invoke(app, sys.argv[1:])
assert done.exit_code == 0, done.output
print(*(name for name in sys.modules if "." not in name))
"""


async def told(service: AdminService, request: OperationRequest) -> list[OperationResult]:
    return [event async for event in service.perform(request)]


async def test_what_the_ledger_alone_tells_is_what_the_engine_tells() -> None:
    settings = load_settings()
    requests = (GetStatus(("here",)), ListDocuments(("here",)), GetStatus(("elsewhere",)))
    async with echo_language.open_engine_context(settings.data_path) as desk:
        await desk.engine.add(doc("a", "Ada met Bob."))
        await desk.engine.wait_until_indexed()
        expected = [await told(LocalService(desk), each) for each in requests]
    async with connect_or_open_ledger(settings) as service:
        assert isinstance(service, LedgerService)
        assert [await told(service, each) for each in requests] == expected
        with pytest.raises(TypeError):
            await told(service, Verify())


async def test_a_new_folder_holds_nothing_and_a_damaged_one_is_told() -> None:
    settings = load_settings()
    async with connect_or_open_ledger(settings) as service:
        [found] = await told(service, ListDocuments(("here",)))
        assert isinstance(found, DocumentList)
        assert found.documents == ()
    (settings.data_path / "ledger.db").write_bytes(b"damaged " * 1000)
    with pytest.raises(CorruptLedger):
        async with connect_or_open_ledger(settings) as service:
            raise AssertionError("it was opened")


async def test_a_program_that_holds_the_folder_is_asked() -> None:
    settings = load_settings()
    async with (
        echo_language.open_engine_context(settings.data_path) as desk,
        socket.serve_socket(settings.data_path, LocalService(desk).perform),
        connect_or_open_ledger(settings) as service,
    ):
        await desk.engine.add(doc("a", "Ada met Bob."))
        [found] = await told(service, GetStatus(("here",)))
        assert isinstance(found, StatusResult)
        assert sum(found.status.documents.values()) == 1


@pytest.mark.parametrize("command", ["status", "documents"])
def test_numbers_and_lists_load_nothing_heavy(tmp_path: Path, command: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "THREADLORE_DATA_DIR": str(tmp_path / "home")}
    words = [sys.executable, "-c", LOADED, command]
    loaded = subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.split()
    assert HEAVY & set(loaded) == set()
