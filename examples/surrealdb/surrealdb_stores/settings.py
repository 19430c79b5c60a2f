"""Settings of the stores (THREADLORE_SURREALDB_…)."""

from __future__ import annotations

from pydantic import SecretStr

from adapters.common.settings import AdapterSettings


class SurrealSettings(AdapterSettings):
    """`address`: "embedded", or a server, ws://user:password@host:8000/namespace/database."""

    prefix = "surrealdb_"

    address: SecretStr = SecretStr("embedded")
