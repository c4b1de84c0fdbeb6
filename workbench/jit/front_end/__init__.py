"""Kernels from their Python text to LLVM's intermediate form: types are found and code is written in one walk.

The texts of kernels use little of what numba compiles: numbers, arrays without gaps, their elements and slices, tuples,
`range`, `while`, `if`, functions of their own, and the words of `work_stealing` and `elements`. For this little, types
and results are those of numba, in a fraction of its time. Anything else raises UnsupportedError: numba compiles it.

The modules: `kinds` (types of values), `numbers` (conversion, arithmetic), `expressions`, `statements`.
"""

from workbench.jit.front_end import expressions, kinds, numbers, statements
from workbench.jit.front_end.kinds import UnsupportedError
from workbench.jit.front_end.statements import worker

__all__ = ["MODULES", "UnsupportedError", "worker"]

MODULES = kinds, numbers, expressions, statements
