"""The hold of this process on a database that processes use in turn."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field


@dataclass(slots=True)
class DatabaseHold:
    """`epoch`: the number of this process among all that have held the database; None without a database.

    `lost` is set when the connection that ensures the hold ends.
    """

    epoch: int | None = None
    lost: asyncio.Event = field(default_factory=asyncio.Event)
