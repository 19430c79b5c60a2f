"""Why a port cannot be listened on."""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from bot.errors import BadSetting, PortInUse

if TYPE_CHECKING:
    from engine.errors import EngineError


def port_error(problem: str, error: Exception, hint: str = "") -> EngineError:
    """The error of a listener that could not start: PortInUse, which passes, or BadSetting."""
    kind = PortInUse if isinstance(error, OSError) and error.errno == errno.EADDRINUSE else BadSetting
    reason = error.strerror if isinstance(error, OSError) and error.strerror else error
    return kind(f"{problem}: {reason}.", hint=hint)
