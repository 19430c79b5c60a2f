from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

REPLACED = """
import sys
from engine.storage.vectors.lance import REST_CLIENT, SIGNATURE_CHECKS, import_lancedb
lancedb = import_lancedb()
assert callable(lancedb.connect_async)
assert all(each.__class__.__name__ != "_PlaceholderFinder" for each in sys.meta_path)
assert not any(name.partition(".")[0] in (REST_CLIENT, SIGNATURE_CHECKS) for name in sys.modules)
from lance_namespace_urllib3_client.api.table_api import TableApi
assert hasattr(TableApi, "list_tables")
"""
KEPT = """
import lancedb, sys
from engine.storage.vectors.lance import REST_CLIENT, import_lancedb
assert import_lancedb() is lancedb and hasattr(sys.modules[f"{REST_CLIENT}.api"].TableApi, "list_tables")
"""


@pytest.mark.long
@pytest.mark.parametrize("program", [REPLACED, KEPT], ids=["replaced", "kept if imported before"])
def test_the_rest_client_of_the_library(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[4])
