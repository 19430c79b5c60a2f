"""The platform's refusals by code."""

from __future__ import annotations

from typing import Any

REFUSALS: dict[int, tuple[int, str]] = {
    0: (401, "401: Unauthorized"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10013: (404, "Unknown User"),
    10014: (404, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    50001: (403, "Missing Access"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50021: (403, "Cannot execute action on a system message"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (400, "Thread is locked"),
}


class ApiError(Exception):
    """A refused call: status, code and message of the response."""

    def __init__(self, code: int, *, status: int = 0, message: str = "", errors: dict[str, Any] | None = None) -> None:
        default_status, default_message = REFUSALS.get(code, (400, "General error"))
        self.status = status or default_status
        self.code = code
        self.message = message or default_message
        self.errors = errors
        super().__init__(f"{self.status} {self.code}: {self.message} {errors or ''}")

    def body(self) -> dict[str, Any]:
        """The JSON of the response."""
        payload: dict[str, Any] = {"message": self.message, "code": self.code}
        return payload if self.errors is None else payload | {"errors": self.errors}


def invalid_form(path: str, code: str, message: str) -> ApiError:
    """Invalid Form Body: what is wrong with the field at a dotted path."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for name in reversed(path.split(".")):
        errors = {name: errors}
    return ApiError(50035, errors=errors)
