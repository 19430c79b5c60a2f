"""These tests run where the library of SurrealDB is installed."""

from __future__ import annotations

from tests.examples.surrealdb import IS_INSTALLED

collect_ignore_glob = [] if IS_INSTALLED else ["test_*.py"]
