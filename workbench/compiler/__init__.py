"""One compiler for the kernels: plain Python functions of arrays and numbers.

A function is read once for the kinds of its arguments into one typed tree, which is printed for a target.

The modules: `tree` (what is printed), `kinds` (what an expression is), `constants`, `source` (texts of functions),
`words` (what a kernel may say beyond Python), `numbers`, `arrays`, `vectors`, `calls`, `expressions`, `statements`,
`reading` (the grammar, from numbers to a kernel), `llvm_expressions`, `llvm` (the printer for the cores),
`c_expressions`, `c` (the printer for accelerators).
"""
