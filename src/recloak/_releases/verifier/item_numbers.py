"""Item ids of any kind to small numbers, in the order they are first met."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from numba import njit
from numpy.typing import NDArray

from recloak._core.threads import in_shares

_EMPTY = -1


class ItemNumbers:
    """Numbers the distinct items of a release from 0 on; refuses more than are claimed."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._texts: dict[str, int] = {}
        size = 1 << max(4, int(4 * most - 1).bit_length())
        self._keys = np.zeros(size, np.int64)
        self._ids = np.zeros(most, np.int64)  # by number
        self._slots = np.full(size, _EMPTY, np.int32)
        self._n_numbers = 0

    def __len__(self) -> int:
        return self._n_numbers + len(self._texts)

    def ids(self) -> list[int] | list[str]:
        """Give the ids by number."""
        if self._texts:
            return list(self._texts)
        return self._ids[: self._n_numbers].tolist()

    def encode(self, column: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        """Give each item's number, and a value that orders the items of this column as their ids are ordered.

        Raises ValueError where there are more items than claimed.
        """
        if pa.types.is_integer(column.type):
            return self._encode_numbers(column.to_numpy())
        return self._encode_texts(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())

    def _encode_numbers(self, ids: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        numbers = self._looked_up(ids)
        if numbers is None:
            self._n_numbers = _insert(ids, self._ids, self._keys, self._slots, self._n_numbers)
            if self._n_numbers > self.most:
                raise ValueError(f"there are more than the {self.most} items that the manifest says")
            numbers = self._looked_up(ids)
        assert numbers is not None
        return numbers, ids

    def _looked_up(self, ids: NDArray[np.integer]) -> NDArray[np.int32] | None:
        """Give the numbers of ids, or nothing where one is not known yet."""
        numbers, missing = np.empty(len(ids), np.int32), np.zeros(1, np.int64)
        known = self._ids[: self._n_numbers], self._keys, self._slots
        in_shares(_look_up, len(ids), ids, *known, numbers, missing)
        return None if missing[0] else numbers

    def _encode_texts(self, column: pa.DictionaryArray) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        texts = column.dictionary.to_pylist()
        if len(set(texts)) < len(texts):
            raise ValueError("a dictionary of items names an item twice")
        used = column.indices.to_numpy()
        for index in np.flatnonzero(np.bincount(used, minlength=len(texts))):
            self._texts.setdefault(texts[index], len(self._texts))
        if len(self._texts) > self.most:
            raise ValueError(f"there are more than the {self.most} items that the manifest says")
        numbers = np.array([self._texts.get(text, _EMPTY) for text in texts], np.int32)
        ranks = np.empty(len(texts), np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return numbers[used], ranks[used]


@njit(cache=True, nogil=True)
def _slot(key, keys, slots):  # type: ignore[no-untyped-def]
    """Find the key's slot, or the empty one where it would go."""
    mask = len(keys) - 1
    place = (key ^ (key >> 15)) & mask
    while slots[place] != _EMPTY and keys[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def _look_up(share, n_shares, ids, by_number, keys, slots, numbers, missing):  # type: ignore[no-untyped-def]
    """Give each id its number, trying the one after the number before first, for rows ascend; tell of any unknown."""
    number = 0
    for r in range(share * len(ids) // n_shares, (share + 1) * len(ids) // n_shares):
        number += 1
        if number >= len(by_number) or by_number[number] != ids[r]:
            number = slots[_slot(np.int64(ids[r]), keys, slots)]
        numbers[r] = number
        if number == _EMPTY:
            missing[0] = 1


@njit(cache=True, nogil=True)
def _insert(ids, by_number, keys, slots, n):  # type: ignore[no-untyped-def]
    """Give new ids the numbers from n on, and say how many there are now; one more than fits where they do not."""
    for r in range(len(ids)):
        key = np.int64(ids[r])
        place = _slot(key, keys, slots)
        if slots[place] == _EMPTY:
            if n == len(by_number):
                return n + 1
            by_number[n], keys[place], slots[place] = key, key, n
            n += 1
    return n
