"""A small evaluator for the derived entries: arithmetic on numbers, variables and other entries, nothing else.

Why not `eval`: the ledger is data. Only the node types and functions listed here are accepted, so a
mistake in a file can give a wrong number (which the tests find) but never run code.
"""

from __future__ import annotations

import ast
import math
import operator
from collections.abc import Callable, Mapping

BINARY: dict[type[ast.operator], Callable[[float, float], float]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
}

FUNCTIONS: dict[str, Callable[..., float]] = {
    "ceil": math.ceil,
    "exp": math.exp,
    "log": math.log,
    "max": max,
    "min": min,
}

LONGEST = 500
LARGEST_EXPONENT = 16


class ExpressionError(ValueError):
    """An expression that cannot be evaluated; the message quotes the part that is refused."""


def evaluate(expression: str, lookup: Callable[[str], float] | Mapping[str, float]) -> float:
    """The value of `expression`, with names resolved by `lookup` (in base units).

    Allowed: numbers, names, + - * / **, unary minus, parentheses and ceil, exp, log, max, min.
    Raises ExpressionError for anything else, for an unknown name and for a division by zero.
    """
    if len(expression) > LONGEST:
        raise ExpressionError(f"expression longer than {LONGEST} characters: {expression[:40]}…")
    try:
        tree = ast.parse(expression, mode="eval")
    except SyntaxError as error:
        raise ExpressionError(f"not an expression: {expression!r}") from error
    resolve = lookup if callable(lookup) else lookup.__getitem__
    try:
        return _value(tree.body, resolve)
    except ExpressionError as error:
        raise ExpressionError(f"{error} (in {expression!r})") from error
    except (ZeroDivisionError, OverflowError) as error:
        raise ExpressionError(f"{expression!r}: {error}") from error


def _value(node: ast.expr, resolve: Callable[[str], float]) -> float:
    match node:
        case ast.Constant(value=value) if isinstance(value, int | float) and not isinstance(value, bool):
            return value
        case ast.Name(id=name):
            try:
                return resolve(name)
            except KeyError as error:
                raise ExpressionError(f"unknown name {name!r}") from error
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand, resolve)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in BINARY:
            exponent = _value(right, resolve)
            if isinstance(op, ast.Pow) and abs(exponent) > LARGEST_EXPONENT:
                raise ExpressionError(f"exponent {exponent} is beyond {LARGEST_EXPONENT}")
            return BINARY[type(op)](_value(left, resolve), exponent)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in FUNCTIONS:
            return FUNCTIONS[name](*(_value(argument, resolve) for argument in arguments))
        case _:
            raise ExpressionError(f"not allowed: {ast.unparse(node)}")
