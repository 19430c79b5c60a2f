"""What goes wrong on demand: calls that fail, hang, are cut, or are done and then lost on the way back."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from tests.support.discord_server.routing import ApiCall

Trouble = Literal["status", "hang", "reset", "lost", "slow"]


@dataclass(slots=True)
class Fault:
    """What happens to the next `times` calls of a route.

    `status`: answered with that status and code; `hang`: never answered; `reset`: cut before it is done; `lost`: done,
    then cut; `slow`: done after `seconds`. For a 429, `seconds` is retry_after; `via` False leaves out the header that
    tells the API's refusals from its shield's.
    """

    method: str
    template: str
    kind: Trouble = "status"
    status: int = 500
    code: int = 0
    seconds: float = 0.05
    times: int = 1
    via: bool = True

    def matches(self, call: ApiCall) -> bool:
        """Whether it strikes this call; it is used up by that."""
        if self.times <= 0 or self.method not in {"*", call.method} or self.template not in {"*", call.template}:
            return False
        self.times -= 1
        return True
