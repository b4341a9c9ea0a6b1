"""The generator against its published test vectors; masks of blocks against the mask as a whole."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.theory.dropout import Dropout, philox
from tests.theory.strategies import repeatable

# Known answers of Philox 4x32-10 from the authors' Random123 distribution (kat_vectors): counter, key, output.
KNOWN_ANSWERS = [
    (
        (0x00000000, 0x00000000, 0x00000000, 0x00000000),
        (0x00000000, 0x00000000),
        (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8),
    ),
    (
        (0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF, 0xFFFFFFFF),
        (0xFFFFFFFF, 0xFFFFFFFF),
        (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD),
    ),
    (
        (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
        (0xA4093822, 0x299F31D0),
        (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
    ),
]


@pytest.mark.parametrize(("counter", "key", "expected"), KNOWN_ANSWERS)
def test_generator_gives_the_published_answers(counter, key, expected):
    words = philox(tuple(np.array([word], dtype=np.uint64) for word in counter), key[0] | key[1] << 32)
    assert tuple(int(word[0]) for word in words) == expected


@repeatable
@given(data=st.data(), seed=st.integers(0, 2**64 - 1), probability=st.floats(0, 0.95))
def test_any_block_can_be_made_again(data, seed, probability):
    heads, length = 3, 20
    dropout = Dropout(seed, probability)
    whole = dropout.factor(np.arange(heads), np.arange(length), np.arange(length))
    rows, keys = (sorted(data.draw(st.lists(st.integers(0, length), min_size=2, max_size=2))) for _ in range(2))
    head = data.draw(st.integers(0, heads - 1))
    block = dropout.factor(np.array([head]), np.arange(*rows), np.arange(*keys))
    np.testing.assert_array_equal(block[0], whole[head, slice(*rows), slice(*keys)])


def test_share_dropped_is_what_was_asked_for():
    # 160,000 independent draws: five standard deviations are 0.005 at a probability of 0.2.
    factor = Dropout(1, 0.2).factor(np.arange(4), np.arange(200), np.arange(200))
    assert set(np.unique(factor)) == {0.0, 1.25}
    assert (factor == 0).mean() == pytest.approx(0.2, abs=0.005)
    assert [(factor[head] == 0).mean() for head in range(4)] == pytest.approx([0.2] * 4, abs=0.01)


def test_zero_drops_nothing_and_other_seeds_drop_other_entries():
    indices = np.arange(1), np.arange(50), np.arange(50)
    assert (Dropout(1, 0).factor(*indices) == 1).all()
    assert (Dropout(1, 0.5).factor(*indices) != Dropout(2, 0.5).factor(*indices)).any()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1.0), "probability must be at least 0 and below 1, got 1.0"),
        ((0, -0.1), "probability must be at least 0"),
        ((-1, 0.5), r"seed must be from 0 to 2\^64 - 1, got -1"),
        ((2**64, 0.5), "seed must be from 0"),
    ],
)
def test_bad_settings_are_refused(arguments, message):
    with pytest.raises(ValueError, match=message):
        Dropout(*arguments)
