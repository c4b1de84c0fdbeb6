"""`workbench convert`."""

from __future__ import annotations

import argparse
from pathlib import Path

from workbench.cli.common import CONVERGED, Commands
from workbench.cli.options import add_option, parameters, problem_arguments
from workbench.errors import InputError, printable_path, quoted
from workbench.settings import RUN

MARKET, PETSC = ".mtx", ".petsc"


def add(verbs: Commands) -> None:
    """Add the command `convert` to the subparsers of argparse."""
    convert = verbs.add_parser(
        "convert",
        description="Write the matrix of a problem or of a file as a Matrix Market file (.mtx), or in PETSc's binary "
        "format (.petsc), which MatLoad reads; PETSc need not be installed.",
    )
    problem_arguments(convert)
    convert.add_argument("output", metavar="FILE", help=f"the file to write, FILE{MARKET} or FILE{PETSC}")
    add_option(convert, RUN["seed"])
    convert.set_defaults(command=_convert)


def _convert(options: argparse.Namespace) -> int:
    from scipy import io

    from workbench.files import replacing
    from workbench.files.petsc_binary import write_petsc
    from workbench.run import configure

    path = Path(options.output)
    if path.suffix not in (MARKET, PETSC):
        raise InputError(f"convert writes {MARKET} or {PETSC} files, got {quoted(path.name)}")
    configuration = configure(options.problem, parameters(options), seed=options.seed)
    csr = configuration.problem.assemble(configuration.seed).operator.to_csr()
    with replacing(path) as stream:
        if path.suffix == PETSC:
            write_petsc(stream, csr)
        else:
            symmetry = "hermitian" if csr.dtype.kind == "c" else "symmetric"
            io.mmwrite(stream, csr, symmetry=symmetry, precision=17)
    print(f"{csr.shape[0]} rows, {csr.nnz} entries in {printable_path(path)}")
    return CONVERGED
