"""Arrow arrays from numpy and back without pandas, which pyarrow's own ways import first, at a second of CPU time."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray


def arrow_numbers(values: NDArray[np.integer]) -> pa.Array:
    """Return whole numbers as an Arrow array over the same memory."""
    return pa.Array.from_buffers(pa.from_numpy_dtype(values.dtype), len(values), [None, pa.py_buffer(values)])


def arrow_texts(texts: Sequence[str]) -> pa.Array:
    """Return texts as an Arrow array."""
    encoded = [text.encode() for text in texts]
    ends = np.cumsum([0, *map(len, encoded)], dtype=np.int32)
    return pa.StringArray.from_buffers(len(texts), pa.py_buffer(ends), pa.py_buffer(b"".join(encoded)))


def as_numpy(values: Any) -> NDArray[Any]:
    """Return a column as numpy, whole numbers in its own memory; raise Arrow's error if one is missing."""
    if not isinstance(values, pa.Array) or not pa.types.is_integer(values.type):
        return np.asarray(values)
    if values.null_count or not len(values):
        return values.to_numpy()
    shared = np.frombuffer(values.buffers()[1], str(values.type))[values.offset : values.offset + len(values)]
    shared.flags.writeable = False  # as pyarrow gives it, so that kernels are compiled once
    return shared
