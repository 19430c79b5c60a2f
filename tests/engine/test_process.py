from __future__ import annotations

from io import BytesIO

import pytest

from engine.process import encode_frame, read_frame


def test_payloads_come_as_they_went_and_then_nothing() -> None:
    pipe = BytesIO(encode_frame(b"one") + encode_frame(b"") + encode_frame(b"three"))
    assert [read_frame(pipe) for _ in range(4)] == [b"one", b"", b"three", None]


@pytest.mark.parametrize("kept", [1, 4, 6])
def test_a_pipe_that_ends_within_a_frame_has_ended(kept: int) -> None:
    assert read_frame(BytesIO(encode_frame(b"three")[:kept])) is None
