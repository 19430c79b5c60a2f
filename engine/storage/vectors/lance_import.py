"""Import of LanceDB without what an embedded store never calls and what takes most of the time of its import."""

from __future__ import annotations

import importlib
import sys
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from types import ModuleType, SimpleNamespace
from typing import Any

REST_CLIENT = "lance_namespace_urllib3_client"  # of its cloud: 200 generated modules
PROGRESS_BARS = "tqdm"  # of its embedding functions
SIGNATURE_CHECKS = "overrides"  # compares each method with that of its base class; Python 3.11 only


class _Placeholder(ModuleType):
    """A module whose classes have no methods and keep what they are made with."""

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _return_given if name == "override" else type(name, (SimpleNamespace,), {})


def _return_given(method: Any) -> Any:
    return method


class _PlaceholderFinder(MetaPathFinder, Loader):
    """Finds placeholders for modules that nothing has imported yet, and forgets them afterwards."""

    def __init__(self, *packages: str) -> None:
        self._packages = frozenset(name for name in packages if name not in sys.modules)

    def find_spec(self, fullname: str, _path: object, _target: object = None) -> ModuleSpec | None:
        is_wanted = fullname.partition(".")[0] in self._packages
        return ModuleSpec(fullname, self, is_package=True) if is_wanted else None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        return _Placeholder(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """Leave the module empty."""


def import_lancedb() -> Any:
    """Import the library with placeholders, which a later import of the same packages does not get.

    A program that needs LanceDB's cloud in the same process imports `lancedb` first.
    """
    finder = _PlaceholderFinder(REST_CLIENT, PROGRESS_BARS, SIGNATURE_CHECKS)
    sys.meta_path.insert(0, finder)
    try:
        return importlib.import_module("lancedb")
    finally:
        sys.meta_path.remove(finder)
        for name in [name for name, module in sys.modules.items() if isinstance(module, _Placeholder)]:
            del sys.modules[name]
