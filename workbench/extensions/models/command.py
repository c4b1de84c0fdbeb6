"""`workbench scaling`: modelled times of an iteration on the ranks of a cluster."""

from __future__ import annotations

import argparse
import json

from workbench.cli.common import CONVERGED, Commands
from workbench.cli.options import add_option, chosen, parameters, problem_arguments
from workbench.cli.streams import log
from workbench.settings import BLOCKS

LEVELS = ("preconditioner", "deflation", "coarse", "variant")
SOLVERS = ("cg", "pipecg", "gropp")


def add(verbs: Commands) -> None:
    """Add the command `scaling` to the subparsers of argparse."""
    scaling = verbs.add_parser(
        "scaling",
        description="Traces some iterations on one rank here, and models them on the ranks of a cluster.",
    )
    problem_arguments(scaling)
    for name in LEVELS:
        add_option(scaling, BLOCKS[name])
    scaling.add_argument("--solver", nargs="+", metavar="BLOCK", default=SOLVERS, help="default cg pipecg gropp")
    scaling.add_argument("--cluster", default="archer2", metavar="NAME", help="archer2 (default), mox or a .toml file")
    scaling.add_argument("--planes", type=int, metavar="N", help="planes of the modelled grid (default: as traced)")
    scaling.add_argument("--shape", default="slabs", help="slabs (default), as runs on ranks have them, or boxes")
    scaling.add_argument(
        "--noise", type=float, default=0.0, metavar="SECONDS", help="mean delay of a rank at a sum (default 0)"
    )
    scaling.add_argument("--picture", metavar="FILE", help="write the curves here, as .svg, .pdf or .png")
    scaling.add_argument("--json", action="store_true", help="print JSON")
    scaling.set_defaults(command=_scaling)


def _scaling(options: argparse.Namespace) -> int:
    from workbench.extensions.models.ranks_model import model_on_ranks
    from workbench.run import configure

    levels, more = chosen(options, LEVELS), parameters(options)
    configurations = [configure(options.problem, more, solver=solver, **levels) for solver in options.solver]
    model = model_on_ranks(configurations, options.cluster, n=options.planes, shape=options.shape, noise=options.noise)
    if options.picture:
        from workbench.plots.figures import draw, save
        from workbench.plots.scenes.scaling import scaling_scene

        scene = scaling_scene(model.counts, model.seconds, of="rank", crossings=model.crossings)
        log(f"wrote the figure to {save(draw(scene, title=model.title), options.picture)}")
    if options.json:
        print(json.dumps(model.to_dict()))
        return CONVERGED
    print(f"{model.title}\n\n   ranks    time, us   coarse, us  method")
    for name, times in model.seconds.items():
        for count, seconds, coarse in zip(model.counts, times, model.coarse[name], strict=True):
            print(f"{count:8}{_cell(seconds, 12)}{_cell(coarse or None, 13)}  {name}")
        print()
    for sentence in (*model.sentences, *(f"note {number}  {note}" for number, note in enumerate(model.notes, 1))):
        print(sentence)
    return CONVERGED


def _cell(seconds: float | None, width: int) -> str:
    return "-".rjust(width) if seconds is None else f"{1e6 * seconds:{width}.1f}"
