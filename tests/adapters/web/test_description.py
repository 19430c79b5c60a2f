"""Whatever the API's own description permits, or forbids, is answered as the description says, and never by a crash."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from anyio.from_thread import BlockingPortal, start_blocking_portal
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from tests.adapters.web.conftest import SECRET, Api, open_api

CHECKS = ("content_type_conformance", "response_schema_conformance", "status_code_conformance")
EXAMPLES, THOROUGH_EXAMPLES = 4, 40  # of each operation, half of them against its description
UPLOADS = {("POST", "/api/v1/documents")}  # each is parsed in a process of its own
SKIPPED_HEALTH = [HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large]


@dataclass
class Server:
    """The API in an event loop of its own, as the synchronous generator of requests calls it."""

    portal: BlockingPortal
    api: Api
    token: str

    def send(self, case: Any) -> Any:
        # Schemathesis builds requests for this library, which encodes also what is no valid form.
        library: Any = importlib.import_module("requests")
        wired = library.Request(**case.as_transport_kwargs(base_url="http://testserver")).prepare()
        headers = {**wired.headers, "Authorization": f"Bearer {self.token}"}

        async def call() -> Any:
            return await self.api.client.request(case.method, wired.url, headers=headers, content=wired.body)

        return self.portal.call(call)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(open_api(tmp_path)) as api:
        token = portal.call(lambda: api.create_token("ask", "read", "write", "manage", limit=100_000))
        yield Server(portal, api, token)


@pytest.mark.long
def test_every_operation_keeps_to_its_description(server: Server, *, thorough: bool) -> None:
    # The library takes more than a second to import, in each process that collects this file.
    schemathesis: Any = importlib.import_module("schemathesis")
    importlib.import_module("schemathesis.checks").load_all_checks()
    known: Any = importlib.import_module("schemathesis.specs.openapi.checks")
    ok: Any = importlib.import_module("schemathesis.core.result").Ok
    checks = [getattr(known, name) for name in CHECKS]
    schema = schemathesis.openapi.from_dict(server.api.app.openapi())
    operations = [operation.ok() for operation in schema.get_all_operations() if isinstance(operation, ok)]
    assert len(operations) > 10
    for operation in operations:
        is_upload = (operation.method.upper(), operation.path) in UPLOADS
        count = THOROUGH_EXAMPLES if thorough else 2 if is_upload else EXAMPLES
        cases = st.one_of(*(operation.as_strategy(generation_mode=mode) for mode in schemathesis.GenerationMode))

        @settings(max_examples=count, phases=[Phase.generate], suppress_health_check=SKIPPED_HEALTH, database=None)
        @given(case=cases)
        def keeps_to_it(case: Any) -> None:
            response = server.send(case)
            assert response.status_code != 500, case.as_curl_command()
            assert SECRET not in response.text, case.as_curl_command()
            case.validate_response(response, checks=checks)

        keeps_to_it()
