from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCRIPT = """
import sys
from engine.storage.vectors.lance_import import REST_CLIENT, import_lancedb
lancedb = import_lancedb()
assert callable(lancedb.connect_async)
assert all(each.__class__.__name__ != "_PlaceholderFinder" for each in sys.meta_path)
tables = sys.modules[f"{REST_CLIENT}.table_api"]
assert not hasattr(tables.TableApi, "list_tables")
"""


def test_the_rest_client_is_replaced_by_placeholders_while_the_library_is_imported() -> None:
    subprocess.run([sys.executable, "-c", SCRIPT], check=True, cwd=Path(__file__).parents[4])


def test_a_library_that_was_imported_before_keeps_its_client() -> None:
    script = "import lancedb, sys\nfrom engine.storage.vectors.lance_import import REST_CLIENT, import_lancedb\n"
    script += "assert import_lancedb() is lancedb and hasattr(sys.modules[REST_CLIENT].TableApi, 'list_tables')"
    subprocess.run([sys.executable, "-c", script], check=True, cwd=Path(__file__).parents[4])
