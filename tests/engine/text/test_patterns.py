from __future__ import annotations

import re

import pytest

from engine.text.patterns import LatePattern, compile_late


def test_a_pattern_is_compiled_by_its_first_use_and_then_costs_as_much_as_any(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled, original = list[str](), re.compile

    def record(text: str, flags: int = 0) -> re.Pattern[str]:
        compiled.append(text)
        return original(text, flags)

    monkeypatch.setattr(re, "compile", record)
    late = compile_late("(?P<one>A)b", re.IGNORECASE)
    assert not compiled
    found = late.search("xab")
    assert found
    assert (found["one"], late.pattern, late.groups) == ("a", "(?P<one>A)b", 1)
    assert late.sub("-", "ab ab", count=1) == "- ab"
    assert compiled == ["(?P<one>A)b"]
    assert vars(late)["findall"]("ab") == ["a"]


def test_what_is_wrong_with_a_pattern_is_raised_by_its_use() -> None:
    late = compile_late("(")
    with pytest.raises(re.error):
        late.search("")
    assert isinstance(late, LatePattern)
    assert not hasattr(late, "other")
