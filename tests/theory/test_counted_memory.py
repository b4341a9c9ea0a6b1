"""The memory that counts: bytes by width, no aliasing, gaps that show, groups of heads."""

import numpy as np
import pytest

from app.theory.counted_memory import CountedMemory, groups, spans
from app.theory.shapes import AttentionShape
from app.theory.traffic import Transfer


def test_loads_and_stores_count_at_the_declared_width():
    memory = CountedMemory()
    memory.place("q", np.arange(12.0).reshape(3, 4), 2)
    memory.reserve("lse", (3,), 4)
    memory.load("q", slice(0, 2))
    memory.load("q")
    memory.store("lse", slice(1, 3), np.zeros(2))
    assert memory.run().by_tensor == (Transfer("lse", 0, 8), Transfer("q", 40, 0))
    assert memory.run().total_bytes == 48


def test_a_loaded_tile_is_a_copy():
    memory = CountedMemory()
    memory.place("o", np.zeros(4), 2)
    memory.load("o")[:] = 1
    assert (memory.run().tensors["o"] == 0).all()


def test_what_was_never_stored_is_nan():
    memory = CountedMemory()
    memory.reserve("o", (4,), 2)
    memory.store("o", slice(0, 3), np.ones(3))
    assert np.isnan(memory.run().tensors["o"]).tolist() == [False, False, False, True]


def test_a_store_of_the_wrong_size_is_refused():
    memory = CountedMemory()
    memory.reserve("o", (4, 2), 2)
    with pytest.raises(ValueError, match=r"store to o: \(3,\) into \(4, 2\)"):
        memory.store("o", ..., np.ones(3))


def test_groups_share_a_key_value_head():
    shape = AttentionShape(4, 2, batch=2, num_heads=6, num_heads_kv=2)
    listed = [(group.q, group.kv, group.heads.tolist()) for group in groups(shape)]
    assert listed == [
        ((0, slice(0, 3)), (0, 0), [0, 1, 2]),
        ((0, slice(3, 6)), (0, 1), [3, 4, 5]),
        ((1, slice(0, 3)), (1, 0), [6, 7, 8]),
        ((1, slice(3, 6)), (1, 1), [9, 10, 11]),
    ]


def test_spans_end_with_the_rows():
    assert spans(7, 3) == [slice(0, 3), slice(3, 6), slice(6, 7)]
