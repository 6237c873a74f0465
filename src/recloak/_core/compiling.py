"""How kernels are compiled: as numba's ``njit`` does, without what no kernel needs."""

from collections.abc import Callable
from typing import Any

import numba
from numba.core import caching

_Cache: Any = caching.FunctionCache  # whose methods have no types


def njit(*, cache: bool = False, **options: Any) -> Any:
    """Decorate a kernel; no way in from C is made for it, which is a tenth of the time that compiling takes."""
    plain: Any = numba.njit  # whose types do not know this option
    decorate = plain(no_cfunc_wrapper=True, **options)

    def decorated(function: Callable[..., Any]) -> Any:
        kernel = decorate(function)
        if cache:
            kernel._cache = KernelCache(function)
        return kernel

    return decorated


class KernelCache(_Cache):
    """Numba's cache on disk, which an older version of recloak may have filled.

    Numba reads the types of a kernel before it looks whether the source has changed since, and fails if one of them
    has another name by now.
    """

    def _load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            return super()._load_overload(sig, target_context)
        except (AttributeError, ImportError):
            self.flush()
            return None
