import numpy as np
import pytest

from workbench.compiler.words import shared, threads
from workbench.jit.compiled import kernel
from workbench.jit.launches import Launch, Launches, Repetition, copies
from workbench.jit.threads import WORTH_SHARING


@kernel()
def halved(taken, numbers, factor):
    for thread in threads(taken):
        for chunk in shared(taken, thread, 1):
            numbers[chunk] = numbers[chunk] * factor


def halving(numbers, size=1):
    return Launch(size, halved, numbers, 0.5)


def test_launches_and_copies_are_made_in_order():
    numbers, out = np.array([8.0]), np.zeros(3)
    parts = [halving(numbers), *copies(numbers, 0, out, 1), halving(numbers), *copies(numbers, 0, out, 2)]
    sequence = Launches(parts)
    for expected in ([0, 4, 2], [0, 1, 0.5], [0, 0.25, 0.125]):
        sequence()
        assert out.tolist() == expected


def test_both_parts_of_a_complex_number_are_copied():
    source, out = np.array([1 + 2j, 3 + 4j]), np.zeros(3, complex)
    sequence = Launches(copies(source, 1, out, 2))
    for value in (3 + 4j, 5 + 6j):
        source[1] = value
        sequence()
        assert out.tolist() == [0, 0, value]


def test_a_sequence_of_a_long_pass_is_made_by_python():
    numbers = np.array([8.0])
    sequence = Launches([halving(numbers), halving(numbers, WORTH_SHARING)])
    assert not sequence.are_short
    sequence(), sequence()
    assert numbers.tolist() == [0.5]


@pytest.mark.parametrize("dtype", [float, complex])
@pytest.mark.parametrize(("low", "high", "rows"), [(0.0, 9.0, 5), (1.0, 9.0, 3), (0.3, 9.0, 5), (0.0, 3.0, 1)])
def test_a_repetition_ends_with_the_first_row_beyond_a_limit(dtype, low, high, rows):
    # The norm is 4, 2, 1, 0.5, 0.25; delta and gamma are 1.
    numbers, scalars, table = np.array([8.0]), np.ones(3, dtype), np.zeros((5, 3), dtype)
    sequence = Launches([halving(numbers), *copies(numbers, 0, scalars.view(float), 2 * scalars.itemsize // 8)])
    assert Repetition(sequence, scalars, table, (2, 0, 1))(5, low, high) == rows
    assert table[:rows, 2].tolist() == [4, 2, 1, 0.5, 0.25][:rows]
    assert not table[rows:].any()


@pytest.mark.parametrize("place", [0, 1])
@pytest.mark.parametrize("value", [0.0, -1.0, np.nan])
def test_a_repetition_ends_where_a_product_is_not_positive(place, value):
    numbers, scalars, table = np.array([8.0]), np.ones(3), np.zeros((5, 3))
    scalars[place] = value
    assert Repetition(Launches([halving(numbers)]), scalars, table, (2, 0, 1))(5, 0.0, 9.0) == 1


def test_arguments_of_another_type_are_refused():
    numbers = np.array([8.0])
    sequence = Launches([halving(numbers)])
    sequence()
    numbers.dtype = np.int64
    with pytest.raises(RuntimeError, match="does not take the arguments"):
        sequence()
