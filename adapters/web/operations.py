"""Perform requests of the API through the service, as the subject of an access token."""

from __future__ import annotations

from contextlib import aclosing
from typing import TYPE_CHECKING, TypeVar

from bot.admin.requests import Authorized
from engine.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator

    from fastapi import Request

    from bot.admin.requests import OperationRequest
    from bot.admin.results import OperationResult
    from bot.admin.rpc.service import AdminService

Result = TypeVar("Result")


def perform(http: Request, token: str, request: OperationRequest) -> AsyncGenerator[OperationResult]:
    """The results of a request; closing the generator stops the work. Raises EngineError."""
    service: AdminService = http.app.state.service
    return service.perform(Authorized(token, request))


async def get_result(http: Request, token: str, request: OperationRequest, kind: type[Result]) -> Result:
    """The one result of this kind. Raises EngineError."""
    async with aclosing(perform(http, token, request)) as results:
        async for result in results:
            if isinstance(result, kind):
                return result
    raise StoreError("The request ended without a result.")
