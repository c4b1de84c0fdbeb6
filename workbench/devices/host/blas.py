"""Calls of BLAS on one thread each, side by side.

BLAS libraries have threads of their own, which spin while they wait. Next to any other busy process one of two spinning
threads may wait for a core that the other keeps, and a product of a millisecond takes a tenth of a second.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager
from typing import Any

from threadpoolctl import ThreadpoolController


@functools.cache
def _libraries() -> ThreadpoolController:
    import scipy.linalg  # noqa: F401  loads SciPy's BLAS before the libraries are counted

    return ThreadpoolController()


def on_one_thread() -> AbstractContextManager[Any]:
    """A context in which BLAS uses the calling thread alone. Cost: 15 microseconds."""
    return _libraries().limit(limits=1, user_api="blas")


def side_by_side(function: Callable[[Any], None], items: Sequence[Any]) -> None:
    """Call the function for each item, on all cores at once, with BLAS on one thread each."""
    from workbench.jit.threads import cores

    with on_one_thread():
        if min(len(items), cores()) == 1:
            for item in items:
                function(item)
            return
        # Threads are not kept: they would not survive a fork, and starting one takes 50 microseconds.
        with ThreadPoolExecutor(min(len(items), cores())) as pool:
            list(pool.map(function, items))
