from __future__ import annotations

from io import BytesIO

import pytest

from engine.process.ipc import framed, take


def test_payloads_come_as_they_went_and_then_nothing() -> None:
    pipe = BytesIO(framed(b"one") + framed(b"") + framed(b"three"))
    assert [take(pipe) for _ in range(4)] == [b"one", b"", b"three", None]


@pytest.mark.parametrize("kept", [1, 4, 6])
def test_a_pipe_that_ends_within_a_frame_has_ended(kept: int) -> None:
    assert take(BytesIO(framed(b"three")[:kept])) is None
