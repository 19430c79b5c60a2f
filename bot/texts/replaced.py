"""The words before a quotation that a newer one replaced. Pure."""

from __future__ import annotations

import re

from bot.i18n import gettext

_UNTIL = re.compile(r"^(- )?Until (\d{4}-\d\d-\d\d): (?=.*“)", re.MULTILINE)


def translate_until(text: str) -> str:
    """An answer of quotations with "Until 2026-05-03:" before what was replaced in the active language."""
    until = gettext("Until {day}:")
    return _UNTIL.sub(lambda found: f"{found[1] or ''}{until.format(day=found[2])} ", text)
