"""The kernel of a pass of lines that act on every column of block vectors alone."""

from __future__ import annotations

from workbench.devices.kernels.block_algebra import GRAM_GROUP
from workbench.devices.kernels.source import fill
from workbench.lines.block_passes import BlockPass, Products, Scaling, Update


def text(work: BlockPass, s: int) -> str:
    """Arguments: the block vectors, the vectors (N,), the numbers per column, partial sums, and N.

    partial[(group*products + p)*s + k]: dot product p of column k over the rows of a group.
    """
    arguments = [f"GLOBAL {'T*' if name in work.stores else 'const T*'} RESTRICT a_{name}" for name in work.arrays]
    arguments += [f"GLOBAL const T* RESTRICT f_{name}" for name in work.factors]
    count, phases = len(work.products), GRAM_GROUP // s
    begin = [f"const T r_{name} = numbers[{place * s} + k];" for place, name in enumerate(work.rows)]
    begin += [f"W sum_{p} = W_OF(0);" for p in range(count)]
    row = [f"T v_{name} = a_{name}[e];" for name in work.loads]
    row += _statements(work)
    row += [f"a_{name}[e] = v_{name};" for name in work.stores]
    finish = []
    for p in range(count):
        finish += [f"room[LOCAL_ID] = sum_{p};", "BARRIER;", "if (phase == 0) {"]
        finish += [f"    for (int m = 1; m < {phases}; m++) sum_{p} = W_ADD(sum_{p}, room[m*{s} + k]);"]
        finish += [f"    partial[(GROUP_ID*{count} + {p})*{s} + k] = sum_{p};", "}", "BARRIER;"]
    pieces = {"begin": begin, "row": row, "finish": finish}
    joined = {name: "\n".join(lines) for name, lines in pieces.items()}
    return fill("block_pass", arguments=", ".join(arguments), s=s, phases=phases, **joined)


def _statements(work: BlockPass) -> list[str]:
    lines, known, count = [], set(work.loads), 0
    for statement in work.statements:
        match statement:
            case Update(target=target, terms=terms):
                total = ""
                for term in terms:
                    value = f"v_{term.factor}" if term.small is None else f"T_MUL(r_{term.small}, v_{term.factor})"
                    if not total:
                        total = value if term.sign > 0 else f"T_SUB(T_OF(0), {value})"
                    else:
                        total = f"{'T_ADD' if term.sign > 0 else 'T_SUB'}({total}, {value})"
                lines.append(f"{'' if target in known else 'T '}v_{target} = {total};")
                known.add(target)
            case Scaling(target=target, argument=argument, factor=factor):
                value = f"v_{argument}"
                if factor is not None:
                    scale = f"f_{factor}[i]" if isinstance(factor, str) else f"T_OF({factor!r})"
                    value = f"T_MUL({scale}, {value})"
                lines.append(f"{'' if target in known else 'T '}v_{target} = {value};")
                known.add(target)
            case Products(left=left, right=right, transposed=transposed):
                conjugate = "" if transposed else "W_CONJ"
                pair = f"{conjugate}(W_OF_T(v_{left})), W_OF_T(v_{right})"
                lines.append(f"sum_{count} = W_ADD(sum_{count}, W_MUL({pair}));")
                count += 1
    return lines
