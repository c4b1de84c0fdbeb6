"""Kernels of rows and of paper lines: plain functions that the compiler reads for the cores and for accelerators.

    @kernel(dots=True)
    def csr(row, data, indices, starts, x, y):
        value = 0
        for j in range(starts[row], starts[row + 1]):
            value += data[j]*x[indices[j]]
        y[row] = value
        return x[row], value

The first parameter is the row; every row is computed once, in any order. Of the other parameters those that the
request of a kernel gives as numbers are numbers, the rest arrays. An array that is written may not be another argument
too. Keyword-only parameters are constants. A parameter may stand for several arrays or numbers: `lower[k]`, with a
constant k, is the argument lower_k. The last line may return a tuple of what is summed over all rows.

The grammar is that of `workbench.compiler`; a literal takes the precision of vectors. `row_kernels` has the decorator;
`lines_text` makes such functions of paper lines.
"""
