"""One formula, three writings: with symbols, with numbers put in, and as an expression Python can evaluate.

A formula is written once, as a Python expression over short names ("e*(4*N**2 + 4*N*d)"), and every writing is made
from its syntax tree, so they cannot drift apart. Known are + - * / // **, min, max, ceil(a, b) for a / b rounded up,
and sum(... for i in range(n)). Numbers are put in through format fields, so a formula is taken apart only once.
"""

import ast
from collections.abc import Mapping
from functools import lru_cache
from typing import NamedTuple

# Symbols as the reader sees them; an underscore starts a subscript.
SYMBOLS: Mapping[str, str] = {"Br": "B_r", "Bc": "B_c", "k": "h_kv"}
_SUPERSCRIPTS = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_SUM, _PRODUCT, _ATOM = 1, 2, 3


class Written(NamedTuple):
    """Two templates with one field for each name: one for reading, one that Python evaluates."""

    text: str
    expression: str
    names: tuple[str, ...]


@lru_cache(maxsize=4096)
def written(source: str) -> Written:
    """Take `source` apart. ValueError when it uses something no formula needs."""
    tree = ast.parse(source, mode="eval").body
    bound = {
        node.target.id
        for node in ast.walk(tree)
        if isinstance(node, ast.comprehension) and isinstance(node.target, ast.Name)
    }
    functions = {
        node.func.id for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)} - bound - functions
    return Written(_text(tree, bound)[0], _expression(tree, bound)[0], tuple(sorted(names)))


@lru_cache(maxsize=4096)
def symbolic(source: str) -> str:
    """The formula with its symbols: e·(4·N² + 4·N·d)."""
    form = written(source)
    return form.text.format_map({name: SYMBOLS.get(name, name) for name in form.names})


def substituted(source: str, values: Mapping[str, int]) -> str:
    """The formula with the numbers put in: 2·(4·4,096² + 4·4,096·128)."""
    form = written(source)
    return form.text.format_map({name: f"{values[name]:,}" for name in form.names})


def expression(source: str, values: Mapping[str, int]) -> str:
    """The same as Python evaluates it; it needs sum, min, max and range and nothing else."""
    form = written(source)
    return form.expression.format_map({name: str(values[name]) for name in form.names})


def _text(node: ast.expr, bound: set[str]) -> tuple[str, int]:
    """Readable text and how tightly it holds together."""
    match node:
        case ast.Name(id=name):
            return (name if name in bound else f"{{{name}}}"), _ATOM
        case ast.Constant(value=int(number)):
            return f"{number:,}", _ATOM
        case ast.BinOp(left=left, op=ast.Pow(), right=ast.Constant(value=int(power))):
            return f"{_held(_text(left, bound), _ATOM)}{str(power).translate(_SUPERSCRIPTS)}", _ATOM
        case ast.BinOp(left=left, op=ast.FloorDiv(), right=right):
            return f"⌊{_held(_text(left, bound), _PRODUCT)} / {_held(_text(right, bound), _ATOM)}⌋", _ATOM
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return f"{_held(_text(left, bound), _PRODUCT)} / {_held(_text(right, bound), _ATOM)}", _PRODUCT
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            return f"{_held(_text(left, bound), _PRODUCT)}·{_held(_text(right, bound), _PRODUCT)}", _PRODUCT
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return f"{_text(left, bound)[0]} + {_text(right, bound)[0]}", _SUM
        case ast.BinOp(left=left, op=ast.Sub(), right=right):
            return f"{_text(left, bound)[0]} − {_held(_text(right, bound), _PRODUCT)}", _SUM
        case ast.Call(func=ast.Name(id="ceil"), args=[above, below]):
            return f"⌈{_held(_text(above, bound), _PRODUCT)} / {_held(_text(below, bound), _ATOM)}⌉", _ATOM
        case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp() as items]):
            variable, count = _range(items)
            return f"Σ[{variable} = 0 … {_text(count, bound)[0]} − 1] {_held(_text(items.elt, bound), _PRODUCT)}", _SUM
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=arguments):
            return f"{name}({', '.join(_text(argument, bound)[0] for argument in arguments)})", _ATOM
    raise ValueError(f"no way to write {ast.unparse(node)}")


def _expression(node: ast.expr, bound: set[str]) -> tuple[str, int]:
    """The same for Python."""
    match node:
        case ast.Name(id=name):
            return (name if name in bound else f"{{{name}}}"), _ATOM
        case ast.Constant(value=int(number)):
            return str(number), _ATOM
        case ast.BinOp(left=left, op=op, right=right):
            sign, tightness = _OPERATORS[type(op)]
            # A power takes only what needs no brackets; to the right of - / // brackets keep the order.
            left_needs = _ATOM if isinstance(op, ast.Pow) else tightness
            right_needs = tightness if isinstance(op, ast.Add | ast.Mult) else min(tightness + 1, _ATOM)
            both = _held(_expression(left, bound), left_needs), _held(_expression(right, bound), right_needs)
            return f"{both[0]}{sign}{both[1]}", tightness
        case ast.Call(func=ast.Name(id="ceil"), args=[above, below]):
            parts = _held(_expression(above, bound), _ATOM), _held(_expression(below, bound), _ATOM)
            return f"(-(-{parts[0]} // {parts[1]}))", _ATOM
        case ast.Call(func=ast.Name(id="sum"), args=[ast.GeneratorExp() as items]):
            variable, count = _range(items)
            inside = _expression(items.elt, bound)[0]
            return f"sum({inside} for {variable} in range({_expression(count, bound)[0]}))", _ATOM
        case ast.Call(func=ast.Name(id=("min" | "max") as name), args=arguments):
            return f"{name}({', '.join(_expression(argument, bound)[0] for argument in arguments)})", _ATOM
    raise ValueError(f"no way to write {ast.unparse(node)}")


_OPERATORS: Mapping[type[ast.operator], tuple[str, int]] = {
    ast.Add: (" + ", _SUM),
    ast.Sub: (" - ", _SUM),
    ast.Mult: (" * ", _PRODUCT),
    ast.Div: (" / ", _PRODUCT),
    ast.FloorDiv: (" // ", _PRODUCT),
    ast.Pow: ("**", _ATOM),
}


def _held(part: tuple[str, int], needed: int) -> str:
    """The text, in brackets when it would fall apart where it is put."""
    text, tightness = part
    return text if tightness >= needed else f"({text})"


def _range(items: ast.GeneratorExp) -> tuple[str, ast.expr]:
    """Variable and count of `... for variable in range(count)`."""
    match items.generators:
        case [ast.comprehension(target=ast.Name(id=variable), iter=ast.Call(func=ast.Name(id="range"), args=[count]))]:
            return variable, count
    raise ValueError(f"a sum runs over range(n): {ast.unparse(items)}")
