"""Block-sparse patterns: which score blocks are kept at all.

Block-sparse attention is APPROXIMATE: what is left out gets probability 0, so the result is not that of attention.
It is the extension of the first paper (arXiv 2205.14135, Section 3.3 and Algorithm 5); everything that uses a pattern
says so.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class BlockPattern:
    """kept[m_block][n_block]: is the score block computed. ValueError unless it is a full rectangle of bools."""

    kept: tuple[tuple[bool, ...], ...]

    def __post_init__(self) -> None:
        """Check the rectangle."""
        widths = {len(row) for row in self.kept}
        if len(widths) != 1 or widths == {0}:
            raise ValueError("a block pattern must have rows of one length, at least 1 x 1")
        if not all(isinstance(entry, bool) for row in self.kept for entry in row):
            raise ValueError("a block pattern holds True and False only")

    @property
    def density(self) -> float:
        """Share of blocks kept, 0 to 1."""
        return sum(sum(row) for row in self.kept) / (len(self.kept) * len(self.kept[0]))

    def keeps(self, m_block: int, n_block: int) -> bool:
        """Whether the score block is computed."""
        return self.kept[m_block][n_block]

    def check(self, blocks_m: int, blocks_n: int) -> None:
        """ValueError unless the pattern is `blocks_m` by `blocks_n`."""
        if (len(self.kept), len(self.kept[0])) != (blocks_m, blocks_n):
            raise ValueError(
                f"the block pattern is {len(self.kept)} x {len(self.kept[0])}, the problem has "
                f"{blocks_m} x {blocks_n} blocks"
            )


def banded(blocks_m: int, blocks_n: int, width: int) -> BlockPattern:
    """Blocks near the diagonal, at most `width` away in units of the longer side, plus the first column of blocks.

    A common local-and-global pattern. ValueError when a side is below 1 or the width negative.
    """
    if min(blocks_m, blocks_n) < 1 or width < 0:
        raise ValueError(f"sides must be at least 1 and width at least 0, got {blocks_m}, {blocks_n} and {width}")
    longer = max(blocks_m, blocks_n)
    return BlockPattern(
        tuple(
            tuple(
                n == 0 or abs((2 * m + 1) * longer // (2 * blocks_m) - (2 * n + 1) * longer // (2 * blocks_n)) <= width
                for n in range(blocks_n)
            )
            for m in range(blocks_m)
        )
    )
