"""Help for user-defined lines: the forms of a line, and the cost of an iteration."""

from __future__ import annotations

from workbench.costs.solver_costs import Cost
from workbench.plots.html_table import Html, html_table
from workbench.words.names import name_of
from workbench.words.numbers import amount

LANGUAGE = """\
<b>What a line may be</b>
<div class="wb-grammar">
<code>s = A(p)</code><span>the matrix; must be alone on its line</span>
<code>u = M(r)</code><span>the preconditioner; must be alone on its line</span>
<code>gamma = (r, u)</code><span>a dot product; must be alone on its line</span>
<code>beta = gamma/previous</code><span>numbers; also <code>a if b &gt; c else d</code></span>
<code>x = x + alpha*p</code><span>vectors, element by element</span>
</div>
There are + - * / sqrt abs conj. b and x are defined; the run reads
<code>rr</code>, <code>gamma</code>, <code>uu</code> and <code>delta</code>."""


ROWS = (
    *("products with A", "products with M", "vector updates", "sequential reductions", "vectors stored"),
    *("passes over memory", "bytes", "bytes per unknown", "flops per unknown"),
)


def cost_table(original: Cost, own: Cost | None, unknowns: int) -> str:
    """Both costs side by side, as HTML; what differs is bold, and lines that cannot run have none."""
    counted = [_counted(original, unknowns), _counted(own, unknowns) if own else ["–"] * len(ROWS)]
    names = ("an iteration", name_of("solver", original.solver), own.solver if own else "yours")
    rows = [
        (what, first, Html(f"<b>{second}</b>") if own and first != second else second)
        for what, first, second in zip(ROWS, *counted, strict=True)
    ]
    return html_table(names, rows, numbers=(1, 2), classes="wb-table wb-costs")


def _counted(cost: Cost, unknowns: int) -> list[str]:
    whole = (cost.with_a, cost.with_m, cost.updates, cost.reductions, cost.vectors, cost.passes)
    each = (cost.bytes_per_unknown, cost.flops_per_unknown)
    return [*map(str, whole), amount(each[0] * unknowns), *(f"{number:.0f}" for number in each)]
