"""The runtime's expression: hours as a function of parameters. It is parsed, and never evaluated as code.

Numbers, names, + - * / // % **, parentheses, and min, max, sqrt, log: nothing else is understood.
"""

from __future__ import annotations

import ast
import math
import operator
from dataclasses import dataclass
from functools import reduce
from typing import TYPE_CHECKING, Any

from orchestrator.errors import did_you_mean
from orchestrator.spec.model import shown, wrong

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

MAX_LENGTH = 300
SHORTEST_HOURS, LONGEST_HOURS = 1e-6, 1e6
"""The shortest and the longest runtime that anybody can mean."""

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {ast.UAdd: operator.pos, ast.USub: operator.neg}
_FUNCTIONS = {"min": (2, 99), "max": (2, 99), "sqrt": (1, 1), "log": (1, 1)}
"""The functions that an expression may call, with their fewest and most arguments."""


class ExpressionError(ValueError):
    """Says what is wrong with an expression, `offset` characters into it."""

    def __init__(self, message: str, offset: int = 0, hint: str = "") -> None:
        super().__init__(message)
        self.offset = offset
        self.hint = hint


@dataclass(frozen=True)
class Expression:
    """An expression that was understood. Call it with the values of its names."""

    text: str
    tree: ast.expr
    names: dict[str, int]
    """The names used, each with the offset of its first use."""

    def __call__(self, values: Mapping[str, Any]) -> Any:
        """Return the expression's value for numbers, or its values for arrays of numbers, in 64-bit floats.

        What has no answer, such as a division by zero, comes out as nan or inf.
        """
        import numpy as np

        arrays = {name: np.asarray(values[name], dtype=np.float64) for name in self.names}
        with np.errstate(all="ignore"):
            return _evaluate(self.tree, arrays)


def parse(text: str) -> Expression:
    """Return the expression that a text describes. Raise ExpressionError for whatever is not understood."""
    if len(text) > MAX_LENGTH:
        raise ExpressionError(f"an expression of {len(text)} characters is too long", hint=f"at most {MAX_LENGTH}")
    lead = len(text) - len(text.lstrip())
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError) as error:
        column = error.offset if isinstance(error, SyntaxError) else None
        raise ExpressionError(f"not an expression: {text.strip()!r}", lead + (column or 1) - 1) from error
    names: dict[str, int] = {}
    _check(tree, lead, names)
    return Expression(text, tree, names)


def check_runtime(value: Any) -> Any:
    """Check a runtime: hours, or hours by instance type."""
    if value is None:
        return None
    if not isinstance(value, dict):
        return _hours(value)
    if not value:
        raise wrong("a runtime for no instance type", hint="write `runtime: {ml.g5.xlarge: 0.4 * epochs}`")
    return {name: _hours(hours, (name,)) for name, hours in value.items()}


def _hours(value: Any, at: tuple[str, ...] = ()) -> Any:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        raise wrong(f"expected hours or an expression, got {shown(value)}", at=at)
    if isinstance(value, int | float) and not value > 0:
        raise wrong(f"a runtime of {shown(value)} hours is not above 0", at=at)
    if isinstance(value, int | float) and not SHORTEST_HOURS <= value <= LONGEST_HOURS:
        bounds = f"from {SHORTEST_HOURS:g} to {LONGEST_HOURS:,.0f} hours"
        raise wrong(f"a runtime of {shown(value)} hours cannot be meant", hint=bounds, at=at)
    if isinstance(value, str):
        try:
            parse(value)
        except ExpressionError as error:
            raise wrong(str(error), hint=error.hint, at=at, offset=error.offset) from error
    return value


def _check(node: ast.expr, lead: int, names: dict[str, int]) -> None:
    """Raise for the first node of the tree that is not understood, and note the names in `names`."""
    offset = lead + node.col_offset
    match node:
        case ast.Constant(value=bool()) | ast.Constant(value=complex()):
            raise ExpressionError("only numbers and names may be used", offset)
        case ast.Constant(value=int() | float()):
            return
        case ast.Name(id=name):
            if name in _FUNCTIONS:
                raise ExpressionError(f"{name} is a function", offset, hint=f"write {name}(…)")
            names.setdefault(name, offset)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in _BINARY:
            _check(left, lead, names)
            _check(right, lead, names)
        case ast.UnaryOp(op=op, operand=operand) if type(op) in _UNARY:
            _check(operand, lead, names)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]):
            if name not in _FUNCTIONS:
                raise ExpressionError(f"unknown function {name!r}", offset, hint=did_you_mean(name, list(_FUNCTIONS)))
            fewest, most = _FUNCTIONS[name]
            if not fewest <= len(arguments) <= most:
                needs = "one argument" if most == 1 else "two or more arguments"
                raise ExpressionError(f"{name} takes {needs}", offset)
            for argument in arguments:
                _check(argument, lead, names)
        case _:
            raise ExpressionError(
                "only numbers, names, + - * / // % **, parentheses, min, max, sqrt and log are understood", offset
            )


def _evaluate(node: ast.expr, values: Mapping[str, Any]) -> Any:
    import numpy as np

    match node:
        case ast.Constant(value=value):
            return np.float64(_as_float(value))
        case ast.Name(id=name):
            return values[name]
        case ast.BinOp(left=left, op=op, right=right):
            return _BINARY[type(op)](_evaluate(left, values), _evaluate(right, values))
        case ast.UnaryOp(op=unary, operand=operand):
            return _UNARY[type(unary)](_evaluate(operand, values))
        case ast.Call(func=ast.Name(id="sqrt" | "log" as name), args=[argument]):
            function = np.sqrt if name == "sqrt" else np.log
            return function(_evaluate(argument, values))
        case ast.Call(func=ast.Name(id=name), args=arguments):
            smaller_or_larger = np.minimum if name == "min" else np.maximum
            return reduce(smaller_or_larger, [_evaluate(argument, values) for argument in arguments])
    raise TypeError(f"not checked by parse(): {ast.dump(node)}")


def _as_float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return math.inf
