"""The kernel language: a kernel is written once, in a subset of Python, compiled for the cores and printed in OpenCL C
and CUDA C.

    @kernel(dots=True)
    def csr(row, data, indices, starts, x, y):
        value = 0
        for j in range(starts[row], starts[row + 1]):
            value += data[j]*x[indices[j]]
        y[row] = value
        return x[row], value

The first parameter is the row; every row is computed once, in any order. Of the other parameters those that are
subscripted are arrays, the rest numbers. An array that is written may not be another argument too. Keyword-only
parameters are constants: they are folded, with the branches that they decide and with loops over `unrolled(count)`. A
parameter may stand for several arrays or numbers: `lower[k]`, with a constant k, is the argument lower_k.

Statements: assignment and `+=` to a variable or an element; `for` over `range`, with a positive step, and `unrolled`;
`while`, `if`, `break`, `continue`; at the end `return`, of what is summed over all rows. Expressions: + - * / // % & |
<< >>, one comparison, `and`, `or`, `not`, `a if test else b`, elements by one index, numbers, helpers (see `helper`),
`abs`, `min`, `max` and the functions of `words`.

`//` and `%` are those of C, for numbers that are not negative. Both sides of `and` and `or` may be evaluated; of `a if
test else b` only what is chosen. Everything else raises KernelError, with the line.

Types are those of the arrays (see `typing`); conversions are part of the typed tree, so that every device makes the
same ones. The modules: `grammar` (decorators, what is refused), `folding` (constants), `typing`, `expressions` and
`tree` (types), `count` (operations), `c_text` (the printer for accelerators), `of_lines` and `of_block_passes` (trees
of paper lines). For the cores `workbench.compiler` reads kernels as they are, and paper lines from `lines_text` and
`block_lines_text`. Stencil kernels of rows, which are kernels of the cores, are printed in C by `of_rows`.
"""

from workbench.kernel_language.grammar import Kernel, KernelError, helper, kernel
from workbench.kernel_language.tree import Typed
from workbench.kernel_language.typing import typed

__all__ = ["Kernel", "KernelError", "Typed", "helper", "kernel", "typed"]
