"""Ids as the audit log shows them: without texts, and without the people whom some of them name. Pure."""

from __future__ import annotations

import re

MAX_LENGTH = 300  # characters
_PERSONAL = re.compile(r"^([^:]+:[^:]*:)dm:[^:]+")
_ID = re.compile(rf"[A-Za-z0-9_.:@/#=+~-]{{1,{MAX_LENGTH}}}")
UNKNOWN = "unknown"


def is_personal(space: str) -> bool:
    """Whether a space is of what one person shared with the bot alone; its name contains the person's id."""
    return _PERSONAL.match(space) is not None


def hide_person(id_: str) -> str:
    """An id of a space, a room or a document; of a person's own space only that it is one."""
    found = _PERSONAL.match(id_)
    return f"{found[1]}dm" if found else id_


def clean_id(given: str) -> str:
    """An id that somebody typed; what may be a text is unknown."""
    return hide_person(given) if not given or _ID.fullmatch(given) else UNKNOWN
