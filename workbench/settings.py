"""The settings of a run, each declared once: name, default, bounds, unit and help.

Command-line options, form fields, share links, saved configurations, sweep axes, provenance and the checks of
`Configuration` and `Stopping` derive from these declarations. The order of the entries is the order in links and files.
"""

from __future__ import annotations

import enum
import math
import re
from collections.abc import Mapping
from typing import Any

from workbench.errors import InputError, quoted
from workbench.registry import Parameter, Value

LARGEST_SIZE = 2**63
"""Bytes; more than any machine can address."""


class Norm(enum.StrEnum):
    """Norms that can be compared with the tolerance.

    Examples:
        >>> from workbench.run import Norm
        >>> [norm.value for norm in Norm]
        ['residual', 'preconditioned', 'natural', 'error']
    """

    RESIDUAL = "residual"
    """||r||"""
    PRECONDITIONED = "preconditioned"
    """sqrt((u, u)) with u = M^-1 r"""
    NATURAL = "natural"
    """sqrt((r, u))"""
    ERROR = "error"
    """The A-norm of the error, where the solution is known. Costs one more matrix-vector product per iteration."""


class Size(Parameter):
    """A number of bytes; texts such as 100MB or 2GiB are converted."""

    def bounds(self) -> str:
        """The bounds in units of memory."""
        return f"between {self.low} byte and {LARGEST_SIZE // 2**60} EiB"

    def _convert(self, prefix: str, value: object) -> Value:
        return read_size(value) if isinstance(value, str) else super()._convert(prefix, value)


RANDOM, SOURCES, PAIRS, NEAR, RANK4, ZERO = FAMILIES = ("random:", "sources:", "pairs:", "near:", "rank4:", "zero:")
"""Families of right-hand sides, each before the number of its columns: random ones, a source that moves over the grid,
and random ones that depend on one another."""
PHASES = "phases"
"""One right-hand side for every bubble or slab."""
GIVEN = "given"
"""The right-hand side that comes with a matrix from a file."""
VECTOR_FILES = (".npy", ".mtx", ".mtx.gz", ".mtx.bz2")
"""Endings of files of right-hand sides and starting vectors, in any case."""


def is_file(value: str) -> bool:
    """True if a right-hand side or a starting vector is a file, by its ending."""
    return value.lower().endswith(VECTOR_FILES)


class Vector(Parameter):
    """One of the choices, or a file of columns."""

    def check(self, value: object, owner: str = "") -> Any:
        """The value; raises InputError for any other."""
        if isinstance(value, str) and is_file(value):
            return value
        if isinstance(value, str) and (re.search(r"[/\\]|\.\w+$", value.strip())):
            raise InputError(
                f"{self.name} {quoted(value)} is no file that is read; its name must end in {', '.join(VECTOR_FILES)}"
            )
        return super().check(value, owner)


def family_of(rhs: str) -> tuple[str, int]:
    """The family of right-hand sides and the number of columns; ("", 0) for what is none of the `FAMILIES`."""
    name, colon, columns = rhs.partition(":")
    return (name + colon, int(columns)) if name + colon in FAMILIES else ("", 0)


class RightHandSide(Vector):
    """One of the choices, a family and its number of columns as in random:16, `phases`, or a file of columns."""

    def check(self, value: object, owner: str = "") -> Any:
        """The value; raises InputError for any other."""
        if isinstance(value, str) and value.strip() == PHASES:
            return PHASES
        families = "|".join(FAMILIES)
        found = re.fullmatch(rf"({families})0*(\d{{1,6}})", value.strip()) if isinstance(value, str) else None
        if found is None:
            return super().check(value, owner)
        if int(found[2]) < 1:
            raise InputError(f"rhs {found[1]}0 has no column; write {found[1]}1 or more")
        return f"{found[1]}{int(found[2])}"


LOCAL = "local:"
"""The word before the number of worker processes on this machine."""
MOST_LOCAL = 256
"""Most worker processes on this machine."""
MOST_RANKS = 1 << 16
"""Most processes of one run."""


class Cluster(Parameter):
    """The address of a Dask scheduler, or `local:<processes>`."""

    def check(self, value: object, owner: str = "") -> Any:
        """The text; raises InputError for any other value. An empty text or `none` is None."""
        if value is None or (isinstance(value, str) and value.strip() in ("", "none")):
            return None
        text = value.strip() if isinstance(value, str) else ""
        local = re.fullmatch(rf"{LOCAL}0*(\d{{1,4}})", text)
        if local and 1 <= int(local[1]) <= MOST_LOCAL:
            return f"{LOCAL}{int(local[1])}"
        if not local and re.fullmatch(r"(tcp|tls)://(\[[0-9A-Fa-f:.]+\]|[\w.-]+):\d{1,5}", text):
            return text
        raise InputError(
            f"{self.name} is the address of a Dask scheduler, such as tcp://host:8786, or {LOCAL}1 to "
            f"{LOCAL}{MOST_LOCAL} for processes on this machine, got {quoted(value)}"
        )


GIVEN_FORM = "problem"
"""The format that leaves A as the problem has it: stencils matrix-free, other matrices as CSR."""
FORMATS = ("coo", "csr", "dia", "ell", "hyb")
"""Storage formats of A: coordinates; compressed rows; diagonals; rows of one length; the same with a rest in
coordinates."""
WAVES = tuple(2**k for k in range(9))
"""Work-items that may share a row of a CSR matrix."""


COMPACT, BY_DIAGONALS = AZ_FORMS = ("compact", "dia")
"""Forms of AZ on a device: without empty rows, or N x d by diagonals, as the two-level paper has it."""


class StorageFormat(Parameter):
    """One of the formats, or csr and the work-items that share a row, as in csr:8."""

    def check(self, value: object, owner: str = "") -> Any:
        """The text; raises InputError for any other."""
        found = re.fullmatch(r"csr:0*(\d{1,4})", value.strip()) if isinstance(value, str) else None
        if found is None:
            return super().check(value, owner)
        if (items := int(found[1])) not in WAVES:
            raise InputError(
                f"format csr:{items} shares a row among {items} work-items, which must be a power of two between 1 and "
                f"{WAVES[-1]}; write csr:8, or csr for as many as suit the rows"
            )
        return f"csr:{items}"


def format_of(value: str) -> tuple[str, int | None]:
    """The format of a checked text, and the work-items that share a row, None for as many as suit the rows."""
    name, colon, items = value.partition(":")
    return name, int(items) if colon else None


ON_DEVICE, HOST = "device", "host"
"""The places where partial sums of dot products on an accelerator are added."""
HERE, WORKERS = "here", "workers"
"""The places where inner products of terms are computed: this process, or the workers of a cluster."""


def is_address(cluster: str | None) -> bool:
    """True if a checked value of the setting `cluster` is the address of a scheduler."""
    return cluster is not None and not cluster.startswith(LOCAL)


def read_size(text: str) -> int:
    """Bytes from a text such as 100MB, 2GiB or 4096. Raises InputError for any other text."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", text.strip(), re.IGNORECASE)
    if not found:
        raise InputError(
            "a size is a number of bytes, optionally with a unit KB, MB, GB, TB, KiB, MiB, GiB or TiB, "
            f"got {quoted(text)}; write for example 100MB"
        )
    number, prefix, binary = found.groups()
    size = float(number) * (1024 if binary else 1000) ** (" KMGT".index(prefix.upper() or " "))
    if size > LARGEST_SIZE:
        raise InputError(
            f"a size is at most {LARGEST_SIZE // 2**60} EiB, got {quoted(text)}; leave it out for no limit"
        )
    return int(size)


def _by_name(*declared: Parameter) -> Mapping[str, Parameter]:
    return {parameter.name: parameter for parameter in declared}


MIXED = "mixed"
"""The precision that stores vectors in single precision."""
AUTO = "auto"
"""The choice that a run makes by itself."""

BLOCKS = _by_name(
    Parameter("solver", str, "cg", "iterative method, such as cg, pipecg or hybrid3"),
    Parameter("preconditioner", str, "jacobi", "first level, such as neumann:2"),
    Parameter("deflation", str, "none", "second level, such as stripes or blocks:6"),
    Parameter("coarse", str, AUTO, "solver of the coarse system, such as inverse; auto estimates the fastest"),
    Parameter(
        "variant", str, AUTO, "combination of the two levels, such as a-def2; auto is def1 for exact coarse solves"
    ),
)
"""The kinds of registered block that make up a method."""

RUN = _by_name(
    Parameter("device", str, "cpu", "device: cpu, opencl, opencl:<number or name>, cuda, cuda:<number> or auto"),
    Cluster(
        "cluster",
        str,
        None,
        "workers that solve the boxes of preconditioner schwarz: a Dask scheduler such as tcp://host:8786, or local:4 "
        "for four processes on this machine",
        empty="none",
    ),
    Parameter(
        "ranks",
        int,
        1,
        "processes that share the rows of the system and communicate by MPI, on this machine or on those of its queue",
        low=1,
        high=MOST_RANKS,
    ),
    Size(
        "memory_limit",
        int,
        None,
        "device memory that a run may use, such as 100MB or 2GiB",
        low=1,
        high=LARGEST_SIZE,
        empty="all",
    ),
    RightHandSide(
        "rhs",
        str,
        "problem",
        "right-hand side; ones is b = 1, ones-scaled is b = A x* with x* = 1/sqrt(N), random is uniform in [0, 1), "
        "random:16 is sixteen columns, standard normal, for block methods; sources:16 is a source at sixteen positions "
        "on the grid's diagonal; pairs:16, near:16, rank4:16, zero:16 are random columns that are equal in pairs, of "
        "which two differ by 1e-10, that are combinations of four, of which the last is zero; phases is one column for "
        "every bubble or slab; given is the NAME_b.mtx of a matrix NAME; or a .npy or .mtx file of columns",
        choices=("problem", "ones", "ones-scaled", "random", GIVEN),
    ),
    Vector(
        "x0",
        str,
        "problem",
        "initial guess; random is uniform in [0, 1); or a .npy or .mtx file",
        choices=("problem", "zero", "random"),
    ),
    Parameter("seed", int, 0, "seed of all random numbers: problem, right-hand side, initial guess", low=0),
    Parameter(
        "precision",
        str,
        "float64",
        "how vectors are stored; mixed keeps all but x and b in single precision, with arithmetic in double precision "
        "and r = b - A x at least every ten iterations",
        choices=("float64", MIXED),
    ),
    StorageFormat(
        "format",
        str,
        GIVEN_FORM,
        "how a device stores A; problem keeps stencils matrix-free and matrices as CSR, the others assemble A first; "
        "csr:8 shares a row of CSR among 8 work-items of an accelerator",
        choices=(GIVEN_FORM, *FORMATS),
    ),
    Parameter(
        "az",
        str,
        COMPACT,
        "how a device stores AZ of deflation by subdomains, where the variant needs it; compact is without empty rows, "
        "dia is N x d by diagonals, filled with zeros: 5 N words for stripes in 2D",
        choices=AZ_FORMS,
    ),
    Parameter(
        "reduction",
        str,
        ON_DEVICE,
        "where an accelerator's dot products end: device adds the partial sums of its groups by a kernel; host copies "
        "and adds them, and then iterations wait for the host",
        choices=(ON_DEVICE, HOST),
    ),
)
"""The other settings of a configuration, besides its stopping criteria."""

STOPPING = _by_name(
    Parameter("rtol", float, 1e-6, "relative tolerance: stop where the norm is at most this share of that of b", low=0),
    Parameter("atol", float, 0.0, "absolute tolerance: stop where the norm is at most this", low=0),
    Parameter(
        "norm",
        str,
        Norm.RESIDUAL.value,
        "norm that is compared with the tolerance; error, the A-norm of the error, needs rhs ones-scaled",
        choices=tuple(norm.value for norm in Norm),
    ),
    Parameter("maxiter", int, None, "iteration limit", low=0, empty="10 N, at least 1000"),
    Parameter(
        "max_seconds", float, None, "limit of iteration time", above=0, high=math.inf, unit="s", empty="no limit"
    ),
    Parameter("stagnation", int, 5000, "iterations without a new smallest norm after which the run ends", low=1),
    Parameter(
        "check_every",
        int,
        None,
        "iterations between two convergence checks on an accelerator",
        low=1,
        high=10_000,
        empty="adaptive",
    ),
    Parameter(
        "true_every",
        int,
        None,
        "iterations between two true residuals b - A x in the history",
        low=1,
        empty="only to confirm convergence",
    ),
)
"""The stopping criteria, and how often residuals are computed to judge them."""

METHOD = (*BLOCKS, "device")
"""Settings in which methods compared on one system differ."""

SECOND_LEVEL = ("coarse", "variant")
"""The kinds of block that have no effect without deflation."""

SWEEP_WORKERS = Cluster(
    "workers",
    str,
    None,
    "who makes the runs: the address of a Dask scheduler, such as tcp://host:8786, or local:4 for four processes on "
    "this machine",
    empty="this process",
)
SEARCH_SECONDS = Parameter(
    "seconds",
    float,
    None,
    "time of a search for the fastest pair of levels, without the compilation of kernels",
    above=0,
    high=math.inf,
    unit="s",
    empty="20 times the fastest solve, at least 2 s, without a grid; else no limit",
)
SWEEP_AXES = tuple(name for name in (*BLOCKS, *RUN) if name not in ("memory_limit", "cluster"))
"""Settings that a sweep can vary, in addition to `SWEEP_STOPPING` and the parameters of its problem."""

SWEEP_STOPPING = ("rtol",)
"""Stopping criteria that a sweep can vary."""


def check_settings(owner: object, declared: Mapping[str, Parameter]) -> None:
    """Replace fields of a frozen dataclass by checked Python values, which JSON and repr write and read back exactly.

    Raises InputError for the first value that is not of its type or out of bounds.
    """
    for name, parameter in declared.items():
        object.__setattr__(owner, name, parameter.check(getattr(owner, name)))


def settings_of(owner: object, declared: Mapping[str, Parameter]) -> dict[str, Any]:
    """The values of the declared fields of a dataclass, by name."""
    return {name: getattr(owner, name) for name in declared}


def differing(values: Mapping[str, Any], declared: Mapping[str, Parameter]) -> dict[str, Any]:
    """The values that differ from the declared defaults, in the declared order."""
    return {name: values[name] for name, parameter in declared.items() if values[name] != parameter.default}
