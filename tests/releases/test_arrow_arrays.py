"""Arrow arrays made and read without pandas are those that pyarrow makes and reads."""

import numpy as np
import pyarrow as pa
import pytest

from recloak._releases.verifier.arrow_arrays import arrow_numbers, arrow_texts, as_numpy


@pytest.mark.parametrize("kind", [np.int32, np.int64])
@pytest.mark.parametrize("n", [0, 1, 5])
def test_numbers_are_those_of_pyarrow(kind, n):
    numbers = np.arange(n, dtype=kind) * -3
    made = arrow_numbers(numbers)
    made.validate(full=True)
    assert made.equals(pa.array(numbers))
    for array in (made, pa.array(numbers)[1:], pa.array(numbers)):
        read = as_numpy(array)
        assert (read.dtype, read.tolist()) == (kind, array.to_pylist())
        assert not read.flags.writeable


@pytest.mark.parametrize("texts", [[], ["a"], ["", "ä, ö", "x" * 300, "日本"]])
def test_texts_are_those_of_pyarrow(texts):
    made = arrow_texts(texts)
    made.validate(full=True)
    assert made.equals(pa.array(texts, pa.string()))


def test_what_is_no_plain_number_is_read_as_pyarrow_reads_it():
    assert as_numpy(pa.array([1.5, 2.0])).tolist() == [1.5, 2.0]
    assert as_numpy(np.array([3])).tolist() == [3]
    with pytest.raises(pa.ArrowInvalid, match="null"):
        as_numpy(pa.array([1, None]))
