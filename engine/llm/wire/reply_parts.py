"""Read what litellm drops of a reply: refusals, lists of contents, and errors within a stream."""

from __future__ import annotations

import importlib
from contextlib import suppress
from typing import Any, NoReturn

from engine.errors import ModelRefused, RequestRejected
from engine.llm.wire.rejections import STREAM

CONVERTER_MODULE = "litellm.litellm_core_utils.llm_response_utils.convert_dict_to_response"
OPENAI_MODULE = "litellm.llms.openai.openai"
STATUS_BY_KIND = (  # of an error event that gives a word in place of a status
    ("content_filter", 400),
    ("content_policy", 400),
    ("rate_limit", 429),
    ("insufficient", 402),
    ("billing", 402),
    ("authentication", 401),
    ("permission", 403),
    ("overloaded", 503),
    ("unavailable", 503),
    ("not_found", 404),
    ("invalid_request", 400),
    ("badrequest", 400),
)


class StreamFailure(Exception):
    """An error that a provider sent within a stream; `status_code` as in a reply."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status_code = status


def flatten_content(content: Any) -> tuple[str, str]:
    """The text and the thoughts of a content: a text, None, or a list of parts."""
    if isinstance(content, str):
        return content, ""
    text, thoughts = list[str](), list[str]()
    for part in content if isinstance(content, list) else ():
        if isinstance(part, str):
            text.append(part)
        elif isinstance(part, dict):
            kind = str(part.get("type", "text"))
            into = thoughts if "think" in kind or "reason" in kind else text
            into.append(_part_text(part))
    return "".join(text), "".join(thoughts)


def _part_text(part: dict[str, Any]) -> str:
    """The text of a part, whatever its field is called."""
    for name in ("text", "thinking", "reasoning", "content", "summary"):
        value = part.get(name)
        if isinstance(value, str):
            return value
        if isinstance(value, list):
            return "".join(flatten_content(value))
    return ""


def accept_content_lists() -> None:
    """Let litellm read whole replies whose content is a list of parts; otherwise it fails on them."""
    with suppress(ImportError, AttributeError):  # a part of litellm that may move; then such replies fail as before
        converter: Any = importlib.import_module(CONVERTER_MODULE)
        read = converter.extract_reasoning_content

        def read_list(message: dict[str, Any]) -> Any:
            if isinstance(message.get("content"), list):
                text, thoughts = flatten_content(message["content"])
                message = {**message, "content": text, "reasoning_content": thoughts or None}
            return read(message)

        converter.extract_reasoning_content = read_list


def keep_unprocessable_errors() -> None:
    """Let litellm raise a status 422; otherwise it repeats the call in silence and then returns nothing."""

    def keep(error: Exception, _: object) -> NoReturn:
        raise error

    with suppress(ImportError, AttributeError):  # a part of litellm that may move
        caller: Any = importlib.import_module(OPENAI_MODULE)
        _ = caller.drop_params_from_unprocessable_entity_error
        caller.drop_params_from_unprocessable_entity_error = keep


def find_refusal(message: Any) -> str:
    """The refusal that a message carries beside its content, "" if there is none."""
    fields = getattr(message, "provider_specific_fields", None) or {}
    refusal = getattr(message, "refusal", None) or fields.get("refusal")
    return refusal if isinstance(refusal, str) else ""


def refusal_error(model: str, refusal: str) -> ModelRefused:
    """The error for a refusal, in the words of the model."""
    words = " ".join(refusal.split())[:MAX_REFUSAL_LENGTH].rstrip(".")
    return ModelRefused(f"The model {model} declined the request: {words}.")


MAX_REFUSAL_LENGTH = 300


class RawStream:
    """The parts of a stream before litellm reads them; `refusal` and `failure` are what it would drop."""

    def __init__(self, parts: Any) -> None:
        self._parts = parts
        self.refusal = ""
        self.failure: Exception | None = None
        self._is_begun = False
        self._response = getattr(parts, "response", None)
        if parse := getattr(parts, "chunk_parser", None):  # it reads an error event as a part without a text
            parts.chunk_parser = lambda chunk: parse(self._read_event(chunk))

    def __aiter__(self) -> RawStream:
        self._parts = aiter(self._parts)
        return self

    async def __anext__(self) -> Any:
        try:
            part = await anext(self._parts)
        except StopAsyncIteration:
            raise
        except Exception as error:
            self.failure = self.failure or _read_failure(error)
            raise
        self._is_begun = True
        if choices := getattr(part, "choices", None):  # one reply was asked for
            part.choices = [choice for choice in choices if not getattr(choice, "index", 0)]
        if getattr(part, "object", "") == "error":
            self._read_event({name: getattr(part, name, None) for name in ("object", "message", "code", "type")})
        for choice in getattr(part, "choices", None) or ():
            self._read_delta(getattr(choice, "delta", None))
        return part

    def _read_event(self, event: Any) -> Any:
        if isinstance(event, dict):
            choices = event.get("choices")
            choice = choices[0] if isinstance(choices, list) and choices and isinstance(choices[0], dict) else {}
            error = event if event.get("object") == "error" else event.get("error") or choice.get("error")
            if isinstance(error, str) and error:
                self.failure = StreamFailure(error, 500)
            elif isinstance(error, dict) and error.get("message"):
                self.failure = StreamFailure(str(error["message"]), _read_status(error))
        return event

    def _read_delta(self, delta: Any) -> None:
        if delta is None:
            return
        self.refusal += find_refusal(delta)
        if isinstance(delta.content, list):
            delta.content, thoughts = flatten_content(delta.content)
            if thoughts:
                delta.reasoning_content = thoughts

    def check_end(self, model: str, *, has_text: bool) -> None:
        """Raise what ended the stream without an exception: an error event, or a refusal in place of a text."""
        if self.failure:
            raise self.failure
        if self.refusal and not has_text:
            raise refusal_error(model, self.refusal)
        if not self._is_begun and self._is_whole_reply():
            error = RequestRejected(f"The provider of the model {model} does not stream: it sent a whole reply.")
            error.parameter = STREAM
            raise error

    def _is_whole_reply(self) -> bool:
        """Whether the provider sent JSON in place of events."""
        headers = getattr(self._response, "headers", None) or {}
        return str(headers.get("content-type", "")).startswith("application/json")

    async def aclose(self) -> None:
        """Close the connection."""
        for name in ("aclose", "close"):
            if close := getattr(self._parts, name, None):
                await close()
                return


def _read_failure(error: Exception) -> Exception | None:
    """The error event with the status that it gives; None for other errors, which say enough."""
    body = getattr(error, "body", None)
    if isinstance(body, str) and body:
        return StreamFailure(body, 500)
    if isinstance(body, dict) and body.get("message"):
        return StreamFailure(str(body["message"]), _read_status(body))
    status = getattr(error, "status_code", None)
    if isinstance(status, str):  # litellm cannot read a word in place of a status
        return StreamFailure(str(error), _read_status({"code": status}))
    return None


def _read_status(event: dict[str, Any]) -> int:
    """The status of an error event: its number, else what its words mean."""
    code = str(event.get("code"))
    if code.isdigit():
        return int(code)
    words = f"{code} {event.get('type')}".casefold()
    return next((status for word, status in STATUS_BY_KIND if word in words), 500)
