"""The platform's refusals, by their codes."""

from __future__ import annotations

from typing import Any

REFUSALS: dict[int, tuple[int, str]] = {
    0: (401, "401: Unauthorized"),
    10002: (404, "Unknown Application"),
    10003: (404, "Unknown Channel"),
    10004: (404, "Unknown Guild"),
    10007: (404, "Unknown Member"),
    10008: (404, "Unknown Message"),
    10011: (404, "Unknown Role"),
    10013: (404, "Unknown User"),
    10014: (404, "Unknown Emoji"),
    10015: (404, "Unknown Webhook"),
    10062: (404, "Unknown interaction"),
    10063: (404, "Unknown application command"),
    30010: (400, "Maximum number of reactions reached (20)"),
    30032: (400, "Maximum number of application commands reached (100)"),
    30034: (400, "Max number of daily application command creates has been reached (200)"),
    40005: (413, "Request entity too large"),
    40060: (400, "Interaction has already been acknowledged."),
    40062: (429, "Service resource is being rate limited."),
    50001: (403, "Missing Access"),
    50003: (403, "Cannot execute action on a DM channel"),
    50005: (403, "Cannot edit a message authored by another user"),
    50006: (400, "Cannot send an empty message"),
    50007: (403, "Cannot send messages to this user"),
    50008: (400, "Cannot send messages in a non-text channel"),
    50013: (403, "Missing Permissions"),
    50016: (400, "Provided too few or too many messages to delete."),
    50021: (403, "Cannot execute action on a system message"),
    50024: (400, "Cannot execute action on this channel type"),
    50027: (401, "Invalid Webhook Token"),
    50034: (400, "A message provided was too old to bulk delete"),
    50035: (400, "Invalid Form Body"),
    50083: (400, "Thread is archived"),
    50109: (400, "The request body contains invalid JSON."),
    160002: (400, "Cannot reply without permission to read message history"),
    160004: (400, "A thread has already been created for this message"),
    160005: (400, "Thread is locked"),
}


class ApiError(Exception):
    """A call that the platform refuses: what the client gets as status, code and words."""

    def __init__(self, code: int, *, status: int = 0, message: str = "", errors: dict[str, Any] | None = None) -> None:
        usual, words = REFUSALS.get(code, (400, "General error"))
        self.status = status or usual
        self.code = code
        self.message = message or words
        self.errors = errors
        super().__init__(f"{self.status} {self.code}: {self.message} {errors or ''}")

    def body(self) -> dict[str, Any]:
        """The answer's JSON."""
        payload: dict[str, Any] = {"message": self.message, "code": self.code}
        if self.errors is not None:
            payload["errors"] = self.errors
        return payload


def invalid_form(path: str, code: str, message: str) -> ApiError:
    """Invalid Form Body: what is wrong with the field at a dotted path."""
    errors: dict[str, Any] = {"_errors": [{"code": code, "message": message}]}
    for name in reversed(path.split(".")):
        errors = {name: errors}
    return ApiError(50035, errors=errors)


def too_long(path: str, most: int) -> ApiError:
    return invalid_form(path, "BASE_TYPE_MAX_LENGTH", f"Must be {most} or fewer in length.")


def bad_length(path: str, least: int, most: int) -> ApiError:
    return invalid_form(path, "BASE_TYPE_BAD_LENGTH", f"Must be between {least} and {most} in length.")


def missing_field(path: str) -> ApiError:
    return invalid_form(path, "BASE_TYPE_REQUIRED", "This field is required")
