"""How kernels are compiled: as numba's ``njit`` does, without what no kernel needs."""

from typing import Any

import numba


def njit(**options: Any) -> Any:
    """Decorate a kernel; no way in from C is made for it, which is a tenth of the time that compiling takes."""
    plain: Any = numba.njit  # whose types do not know this option
    return plain(no_cfunc_wrapper=True, **options)
