"""Plant small faults in the syntax tree of a module, one at a time: a comparison turned, an operand dropped. Pure."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from copy import deepcopy
from dataclasses import dataclass

Functions = (ast.FunctionDef, ast.AsyncFunctionDef)
UNCHANGED_FIELDS = frozenset({"annotation", "returns", "decorator_list", "bases"})
SILENT_CALLS = frozenset({"log", "logging"})  # nobody decides by what is logged

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
}
SET_METHODS = frozenset({"union", "intersection", "difference"})
OPTIONAL_PARTS: dict[type[ast.AST], tuple[str, int]] = {  # a field, and how many of it have to stay
    ast.BoolOp: ("values", 1),
    ast.Set: ("elts", 1),
    ast.comprehension: ("ifs", 0),
}
OPPOSITES = {"any": "all", "all": "any", "min": "max", "max": "min"}
FACTOR = 30  # of a constant of a module: a day becomes a month

Alternative = tuple[ast.AST, str]  # what stands in the place of a node, and a description; "" for the usual one


@dataclass(frozen=True, slots=True)
class Mutant:
    """A fault that can be planted in a module: its number there, its line, and the function that it is in.

    `function`: qualified as in a code object; empty outside of functions. `text`: what becomes of what. `occurrence`:
    of this text in this function, from 1.
    """

    number: int
    line: int
    function: str
    text: str
    occurrence: int = 1


@dataclass(frozen=True, slots=True)
class _Change:
    """A node of a tree and what can stand in its place."""

    owner: ast.AST
    field: str
    index: int | None
    new: ast.AST
    function: str
    text: str

    @property
    def old(self) -> ast.AST:
        value = getattr(self.owner, self.field)
        found: ast.AST = value if self.index is None else value[self.index]
        return found

    def apply(self) -> None:
        if self.index is None:
            setattr(self.owner, self.field, self.new)
        else:
            getattr(self.owner, self.field)[self.index] = self.new


def list_mutants(source: str) -> list[Mutant]:
    """All faults that can be planted in a module."""
    seen: Counter[tuple[str, str]] = Counter()
    found = []
    for number, change in enumerate(_list_changes(ast.parse(source))):
        function, text = change.function, _describe(change)
        seen[function, text] += 1
        found.append(Mutant(number, _line_of(change.old), function, text, seen[function, text]))
    return found


def plant(source: str, number: int) -> ast.Module:
    """The tree of a module with one of its faults, whose lines are those of the source."""
    tree = ast.parse(source)
    list(_list_changes(tree))[number].apply()
    return ast.fix_missing_locations(tree)


def _list_changes(tree: ast.Module) -> list[_Change]:
    return list(_visit(tree, ""))


def _visit(owner: ast.AST, function: str) -> Iterator[_Change]:
    """The changes below a node. `function`: the qualified name of what it is in, with ".<locals>" for a function."""
    for field, value in ast.iter_fields(owner):
        if field in UNCHANGED_FIELDS or (isinstance(owner, ast.ClassDef) and field == "keywords"):
            continue
        for index, node in enumerate(value) if isinstance(value, list) else ((None, value),):
            if not isinstance(node, ast.AST) or _is_left_alone(node):
                continue
            where = function.removesuffix(".<locals>") if function.endswith(".<locals>") else ""
            for new, text in _alternatives(node, owner, where):
                yield _Change(owner, field, index, ast.copy_location(new, node), where, text)
            yield from _visit(node, _qualify(function, node))


def _qualify(function: str, node: ast.AST) -> str:
    """The qualified name of what the parts of a node are in."""
    if isinstance(node, ast.arguments):
        return ""  # defaults are computed where the function is defined
    if isinstance(node, ast.ClassDef):
        return f"{function}.{node.name}".lstrip(".")
    if isinstance(node, Functions):
        return f"{function}.{node.name}.<locals>".lstrip(".")
    return function


def _is_left_alone(node: ast.AST) -> bool:
    """Whether a node decides nothing: an import for types, a docstring, a line of a log."""
    if isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING":
        return True
    if not isinstance(node, ast.Expr):
        return isinstance(node, ast.JoinedStr)
    call = node.value.value if isinstance(node.value, ast.Await) else node.value
    if isinstance(call, ast.Constant):
        return True
    target = call.func.value if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) else None
    return isinstance(target, ast.Name) and target.id in SILENT_CALLS


def _alternatives(node: ast.AST, owner: ast.AST, function: str) -> Iterator[Alternative]:
    """What can stand in the place of a node."""
    if isinstance(node, ast.stmt):
        yield from _change_statement(node, owner)
    elif isinstance(node, ast.Constant):
        yield from _change_constant(node, by_factor=not function)
    elif type(node) in OPTIONAL_PARTS:
        yield from _drop_one(node, *OPTIONAL_PARTS[type(node)])
    else:
        yield from _change_expression(node)


def _change_statement(node: ast.stmt, owner: ast.AST) -> Iterator[Alternative]:
    """A statement left out, or a condition that always holds, or never."""
    match node:
        case ast.If(test=test) | ast.While(test=test) if not isinstance(test, ast.BoolOp):
            for value in (True, False)[isinstance(node, ast.While) :]:
                yield type(node)(ast.Constant(value), node.body, node.orelse), ""
        case ast.Return() if isinstance(owner, Functions):
            return  # the last statement: without it, nothing is left
        case ast.Return() | ast.Continue() | ast.Break() | ast.Raise() | ast.AugAssign() | ast.Expr():
            yield ast.Pass(), ""
        case ast.Assign(targets=[ast.Attribute() | ast.Subscript()]):
            yield ast.Pass(), ""


def _change_constant(node: ast.Constant, *, by_factor: bool) -> Iterator[Alternative]:
    match node.value:
        case bool(value):
            yield ast.Constant(not value), ""
        case int(value) | float(value):
            others = (value * FACTOR,) if by_factor and value else (value + 1, value - 1)
            yield from ((ast.Constant(new), "") for new in others)


def _change_expression(node: ast.AST) -> Iterator[Alternative]:
    match node:
        case ast.Compare() | ast.BinOp() | ast.UnaryOp():
            yield from ((new, "") for new in _turn_operator(node))
        case ast.IfExp(body=body, orelse=orelse):
            yield from ((body, ""), (orelse, ""))
        case ast.Call(func=ast.Attribute(attr=attr)) if attr in SET_METHODS:
            yield from _drop_one(node, "args")
        case ast.Call(func=ast.Name(id=name), args=args, keywords=keywords) if name in OPPOSITES:
            yield ast.Call(ast.Name(OPPOSITES[name], ast.Load()), args, keywords), ""


def _turn_operator(node: ast.Compare | ast.BinOp | ast.UnaryOp) -> Iterator[ast.AST]:
    """The opposite of a comparison, and its limit moved; one side of an operation; what a `not` denies."""
    match node:
        case ast.Compare(left=left, ops=ops, comparators=comparators):
            for index, op in enumerate(ops):
                for other in COMPARISONS[type(op)]:
                    yield ast.Compare(left, [*ops[:index], other(), *ops[index + 1 :]], comparators)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            yield ast.BinOp(left, OPERATORS[type(op)](), right)
            yield from (left, right)[: 2 if isinstance(op, ast.BitAnd | ast.BitOr) else 1]
        case ast.UnaryOp(op=ast.Not(), operand=operand):
            yield operand


def _drop_one(node: ast.AST, field: str, least: int = 0) -> Iterator[Alternative]:
    """A node without one of its parts, if more than so many are there; a single remaining operand stands for itself."""
    parts = getattr(node, field)
    for index, part in enumerate(parts) if len(parts) > least else ():
        rest = [*parts[:index], *parts[index + 1 :]]
        new = deepcopy(node)
        setattr(new, field, rest)
        yield rest[0] if isinstance(node, ast.BoolOp) and len(rest) == 1 else new, f"without: {_first_line(part)}"


def _describe(change: _Change) -> str:
    old, new = (_first_line(each) for each in (change.old, change.new))
    return change.text or f"{old}  ->  {'(removed)' if isinstance(change.new, ast.Pass) else new}"


def _first_line(node: ast.AST) -> str:
    text = "if ".join(["", *map(ast.unparse, node.ifs)]) if isinstance(node, ast.comprehension) else ast.unparse(node)
    return text.partition("\n")[0]


def _line_of(node: ast.AST) -> int:
    return getattr(node, "lineno", 0) or next((getattr(each, "lineno", 0) for each in ast.iter_child_nodes(node)), 0)
