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
LATER = """
import sys
from engine.storage.vectors.lance import LATER, import_lancedb
lancedb = import_lancedb()
assert not LATER & set(sys.modules), LATER & set(sys.modules)
import lancedb.query, lancedb.table, pyarrow
assert lancedb.query.pc.sum(pyarrow.array([1, 2])).as_py() == 3
assert sys.modules["pyarrow.compute"].sum is lancedb.query.pc.sum
assert isinstance(pyarrow.dataset.dataset, type(lambda: None)) and pyarrow.dataset is sys.modules["pyarrow.dataset"]
"""
KEPT = """
import lancedb, sys
from engine.storage.vectors.lance import REST_CLIENT, import_lancedb
assert import_lancedb() is lancedb and hasattr(sys.modules[f"{REST_CLIENT}.api"].TableApi, "list_tables")
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "program", [REPLACED, LATER, KEPT], ids=["replaced", "parts of arrow when used", "kept if imported before"]
)
def test_what_the_library_does_not_load(program: str) -> None:
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[4])
