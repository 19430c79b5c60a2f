"""Golden files: what the product makes of an input, in a file that is read in reviews."""

from __future__ import annotations

from pathlib import Path


def compare_with_golden(path: Path, text: str, *, renew: bool) -> None:
    """Compare a text with a golden file; `renew` writes the file first (`pytest --renew-golden`)."""
    if renew:
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    expected = path.read_text(encoding="utf-8")
    assert text == expected, f"{path} differs. If the new text is right: pytest --renew-golden {path.parents[1]}"
