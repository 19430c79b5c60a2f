"""Faults that are planted in a module: each kind of them, one at a time, and nothing where nobody decides."""

from __future__ import annotations

import ast

import pytest

from benchmarks.mutants import list_mutants, plant


def changed(body: str) -> list[str]:
    """The body of a function with each fault that can be planted in it."""
    source = f"def f(a, b, c):\n    {body}\n    return None"
    found = [ast.unparse(plant(source, mutant.number)).splitlines() for mutant in list_mutants(source)]
    return ["; ".join(line.strip() for line in lines[1:-1]) for lines in found]


@pytest.mark.parametrize(
    ("body", "faults"),
    [
        ("x = a <= b", ["x = a < b", "x = a > b"]),
        ("x = a not in b", ["x = a in b"]),
        ("x = a and b and c", ["x = b and c", "x = a and c", "x = a and b"]),
        ("x = a or b", ["x = b", "x = a"]),
        ("x = not a", ["x = a"]),
        ("x = a & b", ["x = a | b", "x = a", "x = b"]),
        ("x = a - b", ["x = a + b", "x = a"]),
        ("x = a.union(b, c)", ["x = a.union(c)", "x = a.union(b)"]),
        ("x = {a, b}", ["x = {b}", "x = {a}"]),
        ("x = [each for each in a if b]", ["x = [each for each in a]"]),
        ("x = a if b else c", ["x = a", "x = c"]),
        ("x = any(a)", ["x = all(a)"]),
        ("x = 7", ["x = 8", "x = 6"]),
        ("x = True", ["x = False"]),
        ("if a: return b", ["if True:; return b", "if False:; return b", "if a:; pass"]),
        ("while a: f()", ["while False:; f()", "while a:; pass"]),
        ("a.b = c", ["pass"]),
        ("a += b", ["pass"]),
        ("raise a", ["pass"]),
        ("log.info(7)", []),
        ("x: Literal[7] = a", []),
        ("'What it does.'", []),
    ],
)
def test_each_kind_of_fault_is_planted_once(body: str, faults: list[str]) -> None:
    assert changed(body) == faults


def test_a_fault_is_in_the_function_whose_tests_are_to_notice_it() -> None:
    source = "DAY = 24\nclass A:\n    def f(self, x=1):\n        def g(): return x > 0\n        return g"
    found = [(mutant.line, mutant.function, mutant.text) for mutant in list_mutants(source)]
    assert found == [
        (1, "", "24  ->  720"),
        (3, "", "1  ->  30"),
        (4, "A.f.<locals>.g", "x > 0  ->  x >= 0"),
        (4, "A.f.<locals>.g", "x > 0  ->  x <= 0"),
        (4, "A.f.<locals>.g", "0  ->  1"),
        (4, "A.f.<locals>.g", "0  ->  -1"),
    ]
