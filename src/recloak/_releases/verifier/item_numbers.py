"""Item ids of any kind to small numbers, in the order they are first met, and to the words that marks are made of."""

import hashlib
from collections.abc import Iterable

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from recloak._core.compiling import njit
from recloak._core.threads import in_shares
from recloak._releases.verifier.arrow_arrays import as_numpy

_EMPTY = -1
_FIRST_ROOM = 1 << 15


class ItemNumbers:
    """Numbers the distinct items of a release from 0 on, and gives each two secret words that stand for it.

    The words are a keyed hash of the id, so they are the same wherever the item is met under the same secret, and
    whoever does not know the secret cannot choose ids whose words are alike.
    """

    def __init__(self, secret: bytes = b"") -> None:
        self.secret = secret
        self._texts: dict[str, int] = {}
        self._words = np.empty((2, 0), np.uint64)
        self._n_numbers = 0
        self._make_room(_FIRST_ROOM)

    def __len__(self) -> int:
        return self._n_numbers + len(self._texts)

    def ids(self) -> list[int] | list[str]:
        """Return the ids by number."""
        return list(self._texts) or self._ids[: self._n_numbers].tolist()

    def words(self) -> NDArray[np.uint64]:
        """Return the two words of each item: (2, n), by number."""
        assert self.secret, "without a secret anybody could prepare items that look alike"
        if self._words.shape[1] < len(self):
            new = self.ids()[self._words.shape[1] :]
            words = words_of(new, self.secret)
            self._words = np.ascontiguousarray(np.concatenate((self._words, words), axis=1))
        return self._words

    def encode(self, column: pa.Array) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        """Return each item's number, and a value that orders the items of this column as their ids are ordered.

        Raises ValueError where a dictionary names an item twice.
        """
        if pa.types.is_integer(column.type):
            return self._encode_numbers(as_numpy(column))
        return self._encode_texts(column if pa.types.is_dictionary(column.type) else column.dictionary_encode())

    def _encode_numbers(self, ids: NDArray[np.integer]) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        numbers, n = np.empty(len(ids), np.int32), np.array([self._n_numbers, 0])
        table = self._ids, self._keys, self._slots
        in_shares(_number, len(ids), ids, *table, numbers, n, False)
        while n[1]:
            n[1] = 0
            _number(0, 1, ids, self._ids, self._keys, self._slots, numbers, n, True)
            self._n_numbers = int(n[0])
            if n[1]:
                self._make_room(4 * len(self._ids))
        return numbers, ids

    def _make_room(self, room: int) -> None:
        """Make the table of numeric ids larger; it grows with what is seen, not with what is claimed."""
        known = self.ids() if self._n_numbers else []
        size = 1 << max(4, int(4 * room - 1).bit_length())
        self._keys, self._slots = np.zeros(size, np.int64), np.full(size, _EMPTY, np.int32)
        self._ids = np.zeros(room, np.int64)  # by number
        if known:
            again = np.array(known, np.int64), self._ids, self._keys, self._slots
            _number(0, 1, *again, np.empty(len(known), np.int32), np.zeros(2, np.int64), True)

    def _encode_texts(self, column: pa.DictionaryArray) -> tuple[NDArray[np.int32], NDArray[np.integer]]:
        texts = column.dictionary.to_pylist()
        if len(set(texts)) < len(texts):
            raise ValueError("a dictionary of items names an item twice")
        used = as_numpy(column.indices)
        for index in np.flatnonzero(np.bincount(used, minlength=len(texts))):
            self._texts.setdefault(texts[index], len(self._texts))
        numbers = np.array([self._texts.get(text, _EMPTY) for text in texts], np.int32)
        ranks = np.empty(len(texts), np.int64)
        ranks[sorted(range(len(texts)), key=texts.__getitem__)] = np.arange(len(texts))
        return numbers[used], ranks[used]


def words_of(ids: Iterable[int | str], secret: bytes) -> NDArray[np.uint64]:
    """Return the two words that stand for each id under a secret: (2, n)."""
    digests = b"".join(_digest(str(one), secret) for one in ids)
    return np.frombuffer(digests, "<u8").reshape(-1, 2).T


def _digest(text: str, secret: bytes) -> bytes:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), key=secret, digest_size=16).digest()


@njit(cache=True, nogil=True, inline="always")
def _slot(key, keys, slots):  # type: ignore[no-untyped-def]
    """Find the key's slot, or the empty one where it would go."""
    mask = len(keys) - 1
    place = (key ^ (key >> 15)) & mask
    while slots[place] != _EMPTY and keys[place] != key:
        place = (place + 1) & mask
    return place


@njit(cache=True, nogil=True)
def _number(share, n_shares, ids, by_number, keys, slots, numbers, n, new):  # type: ignore[no-untyped-def]
    """Fill in each id's number, trying the one after the number before first, for rows ascend.

    Ids that are not known get the numbers from ``n[0]`` on if ``new``; where they do not, or there is no room for them,
    ``n[1]`` becomes 1.
    """
    number, count = 0, n[0]
    for r in range(share * len(ids) // n_shares, (share + 1) * len(ids) // n_shares):
        number += 1
        if number >= count or by_number[number] != ids[r]:
            key = np.int64(ids[r])
            place = _slot(key, keys, slots)
            if new and slots[place] == _EMPTY and count < len(by_number):
                by_number[count], keys[place], slots[place] = key, key, count
                count += 1
            number = slots[place]
        numbers[r] = number
        if number == _EMPTY:
            n[1] = 1
    if new:
        n[0] = count
