"""A pass of block vectors as a function of rows in Python text; a row is one value: a tile of columns, or one number.

Names begin with a_ for a block vector, v_ for its row, f_ for a vector, and r_ for a number per column, which the small
matrix of one row has.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from types import FunctionType

import numpy as np

from workbench.compiler.constants import named
from workbench.compiler.kinds import Row
from workbench.compiler.source import function_of_text
from workbench.compiler.words import WORDS
from workbench.kernel_language.lines_text import unpacked
from workbench.lines.block_passes import BlockPass, Products, Scaling, Term, Update


@functools.lru_cache(512)
def function_of_rows(work: BlockPass, vector: np.dtype, wide: np.dtype) -> Row:
    """The function row(row, arrays, factors, numbers) of a pass; it returns both factors of each dot product.

    vector, wide: the dtypes of block vectors and of sums. arrays: the block vectors; factors: the vectors; numbers: a
    row for each small matrix, in the precision of vectors.
    """
    body = [unpacked([f"a_{name}" for name in work.arrays], "arrays")]
    body += [unpacked([f"f_{name}" for name in work.factors], "factors")]
    body += [unpacked([f"r_{name}" for name in work.rows], "numbers")]
    body += [f"v_{name} = a_{name}[row]" for name in work.loads]
    found: list[str] = []
    for statement in work.statements:
        match statement:
            case Update(target=target, terms=terms):
                body.append(f"v_{target} = {_sum(terms)}")
            case Scaling(target=target, argument=argument, factor=None):
                body.append(f"v_{target} = v_{argument}")
            case Scaling(target=target, argument=argument, factor=factor):
                scale = f"f_{factor}[row]" if isinstance(factor, str) else repr(factor)
                body.append(f"v_{target} = {scale} * v_{argument}")
            case Products(left=left, right=right, transposed=transposed):
                factor = f"wide(v_{left})"
                body.append(f"left_{len(found)} = {factor if transposed else f'conj({factor})'}")
                body.append(f"right_{len(found)} = wide(v_{right})")
                found += [f"left_{len(found)}", f"right_{len(found)}"]
    body += [f"a_{name}[row] = v_{name}" for name in work.stores]
    text = "\n".join(["def row(row, arrays, factors, numbers):", *(f"    {line}" for line in body)])
    text += f"\n    return ({''.join(f'{name}, ' for name in found)})\n"
    return Row(_function(text), named({".wide": wide, ".narrow": vector}))


@functools.lru_cache(512)
def _function(text: str) -> FunctionType:
    return function_of_text(text, {name: word for word, name in WORDS.items()})


def _sum(terms: Sequence[Term]) -> str:
    text = ""
    for k, term in enumerate(terms):
        value = f"v_{term.factor}" if term.small is None else f"r_{term.small} * v_{term.factor}"
        sign = "+" if term.sign > 0 else "-"
        text += value if k == 0 and term.sign > 0 else f"-{value}" if k == 0 else f" {sign} {value}"
    return text
