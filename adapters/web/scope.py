"""The scope that requests of the API name: none, because that of their token replaces it."""

from __future__ import annotations

from engine import Scope

OF_TOKEN = Scope.of()
