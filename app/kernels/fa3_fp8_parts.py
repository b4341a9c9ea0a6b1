"""Small device functions of the 8-bit Hopper kernel: probabilities as e4m3 operands, sums that stay with a thread."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

from triton.experimental import gluon
from triton.experimental.gluon import language as gl


@gluon.constexpr_function
def _packing_text():
    return (
        "{ .reg .b16 low, high; cvt.rn.satfinite.e4m3x2.f32 low, $2, $1; "
        "cvt.rn.satfinite.e4m3x2.f32 high, $4, $3; mov.b32 $0, {low, high}; }"
    )


@gluon.jit
def packed(probs):
    """Probabilities (rows, columns), fp32, as the scores lie → (rows, columns / 4) words of four e4m3 numbers each.

    Columns 8a + 2t + r of 16 neighbours become places 4t + 2a + r: what `fa3_fp8_quantize.key_of_place` undoes. Words,
    not numbers, are kept from one visit to the next: the compiler would keep each number in a register of its own.
    """
    ROWS: gl.constexpr = probs.shape[0]
    COLUMNS: gl.constexpr = probs.shape[1]
    placed = probs.reshape([ROWS, COLUMNS // 16, 2, 4, 2]).permute((0, 1, 3, 2, 4))
    even, odd = gl.split(placed.reshape([ROWS, COLUMNS // 4, 2, 2]))
    first, third = gl.split(even)
    second, fourth = gl.split(odd)
    return gl.inline_asm_elementwise(
        _packing_text(), "=r,f,f,f,f", [first, second, third, fourth], dtype=gl.int32, is_pure=True, pack=1
    )


@gluon.jit
def operand(words, OPERAND: gl.constexpr):
    """The same words as the first operand of a product, (rows, columns) of e4m3; nothing moves.

    Gluon has no way to say that a word is four numbers but to hand each word four times to a move that keeps one.
    """
    ROWS: gl.constexpr = words.shape[0]
    COLUMNS: gl.constexpr = words.shape[1] * 4
    pair = gl.join(words, words)
    four = gl.convert_layout(gl.join(pair, pair).reshape([ROWS, COLUMNS]), OPERAND, assert_trivial=True)
    return gl.inline_asm_elementwise("mov.b32 $0, $1;", "=r,r,r,r,r", [four], dtype=gl.float8e4nv, is_pure=True, pack=4)


@gluon.jit
def own_sums(probs):
    """(rows, columns) → (rows, 4): each thread adds up what it holds; the four of a row come together at its end."""
    ROWS: gl.constexpr = probs.shape[0]
    COLUMNS: gl.constexpr = probs.shape[1]
    return gl.sum(gl.sum(probs.reshape([ROWS, COLUMNS // 8, 4, 2]), 3), 1)


@gluon.jit
def each(values, like):
    """One number a row, for every column of `like`."""
    return gl.convert_layout(values, gl.SliceLayout(1, like.type.layout), assert_trivial=True)[:, None]
