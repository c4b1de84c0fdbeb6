"""What to run, as plain data: a problem, blocks by name, and when to stop."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Mapping
from typing import Any

from workbench import registry
from workbench.deflation import CoarseSolver, Deflation, Variant
from workbench.deflation.variants import Def1
from workbench.errors import InputError, quoted
from workbench.preconditioners import Preconditioner
from workbench.problems import Problem
from workbench.problems.files import problem_from_text
from workbench.registry import unknown_name
from workbench.run.link_codec import STANDARD, is_shared, read_shared
from workbench.run.plain import make_plain
from workbench.run.stopping import Stopping
from workbench.solvers import Solver

RHS = ("problem", "ones", "ones-scaled", "random")
STARTS = ("problem", "zero", "random")
LARGEST_SIZE = 2**63
"""Bytes, more than any machine can address."""


@dataclasses.dataclass(frozen=True)
class Configuration:
    """One run, wholly described.

    rhs: `problem` is the problem's own b, `ones` is b = 1, `ones-scaled` is b = A x* with x* = 1/sqrt(N), `random` is
    uniform in [0, 1). x0: `problem` is the problem's own start, `random` is uniform in [0, 1). All randomness is by
    seed. memory_limit: bytes of the device's memory that the run may use, None for all. Raises InputError for unknown
    choices.
    """

    problem: Problem
    solver: Solver
    preconditioner: Preconditioner
    deflation: Deflation
    coarse: CoarseSolver
    variant: Variant = dataclasses.field(default_factory=Def1)
    device: str = "cpu"
    memory_limit: int | None = None
    stopping: Stopping = dataclasses.field(default_factory=Stopping)
    rhs: str = "problem"
    x0: str = "problem"
    seed: int = 0

    def __post_init__(self) -> None:
        make_plain(self)
        for kind in _BLOCKS:
            object.__setattr__(self, kind, registry.as_block(kind, getattr(self, kind)))
        for name, given, known in (("rhs", self.rhs, RHS), ("x0", self.x0, STARTS)):
            if given not in known:
                raise InputError(unknown_name(name, given, known))
        if not isinstance(self.stopping, Stopping):
            raise InputError(f"stopping must be a Stopping, got {quoted(self.stopping)}; write Stopping(rtol=1e-8)")
        if self.memory_limit is not None and not 1 <= self.memory_limit <= LARGEST_SIZE:
            raise InputError(
                f"memory_limit must be between 1 byte and {LARGEST_SIZE // 2**60} EiB, got {quoted(self.memory_limit)}"
            )
        if self.seed < 0:
            raise InputError(f"seed must be at least 0, got {self.seed}")

    @property
    def label(self) -> str:
        """A short name for legends: the blocks, without the problem."""
        parts = [self.solver.name, self.preconditioner.spec]
        if self.deflation.name != "none":
            parts += [self.deflation.spec, self.coarse.name]
            parts += [self.variant.name] if self.variant.name != "def1" else []
        return " + ".join(part for part in parts if part != "none")

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        named = {kind: getattr(self, kind).to_dict() for kind in _BLOCKS}
        rest = {
            "device": self.device,
            "memory_limit": self.memory_limit,
            "rhs": self.rhs,
            "x0": self.x0,
            "seed": self.seed,
        }
        return {**named, **rest, "stopping": dataclasses.asdict(self.stopping)}

    @classmethod
    def from_dict(cls, plain: dict[str, Any]) -> Configuration:
        """The inverse of `to_dict`."""
        named: dict[str, Any] = {kind: registry.from_dict(plain[kind]) for kind in _BLOCKS}
        rest = {name: plain[name] for name in ("device", "rhs", "x0", "seed")}
        # Records of earlier versions do not know it.
        rest["memory_limit"] = plain.get("memory_limit")
        return cls(**named, **rest, stopping=Stopping(**plain["stopping"]))


_BLOCKS = ("problem", "solver", "preconditioner", "deflation", "coarse", "variant")


def configure(
    problem: str | Problem,
    parameters: Mapping[str, Any] | None = None,
    *,
    solver: str | Solver | None = None,
    preconditioner: str | Preconditioner | None = None,
    deflation: str | Deflation | None = None,
    coarse: str | CoarseSolver | None = None,
    variant: str | Variant | None = None,
    device: str | None = None,
    memory_limit: int | None = None,
    rhs: str | None = None,
    x0: str | None = None,
    seed: int | None = None,
    stopping: Stopping | None = None,
    **more: Any,
) -> Configuration:
    """A configuration from short names: configure("two-layer", n=128, preconditioner="neumann:2", deflation="stripes").

    problem may also be the text of a link or the path of a saved configuration, see `workbench.run.share_link`;
    explicit keywords override it. Defaults: solver cg, preconditioner jacobi, deflation none, coarse cholesky, variant
    def1, device cpu, rhs and x0 of the problem, seed 0. `parameters` and further keywords: parameters of the problem.
    Raises InputError with the nearest known name for unknown ones.
    """
    base = _base(problem)
    blocks_given = {
        "solver": solver,
        "preconditioner": preconditioner,
        "deflation": deflation,
        "coarse": coarse,
        "variant": variant,
    }
    rest = {
        "device": device,
        "memory_limit": memory_limit,
        "rhs": rhs,
        "x0": x0,
        "seed": seed,
        "stopping": stopping,
    }
    chosen: dict[str, Any] = {name: value for name, value in rest.items() if value is not None}
    for kind, given in blocks_given.items():
        if given is not None:
            chosen[kind] = registry.as_block(kind, given)
    return dataclasses.replace(base, problem=base.problem.changed({**(parameters or {}), **more}), **chosen)


def _base(problem: str | Problem) -> Configuration:
    """What a link or file says, or the standard blocks on a problem."""
    if isinstance(problem, str) and is_shared(problem):
        return Configuration.from_dict(read_shared(problem))
    standard: dict[str, Any] = {kind: registry.find(kind, name) for kind, name in STANDARD.items()}
    given: Any = problem_from_text(problem) if isinstance(problem, str) else registry.as_block("problem", problem)
    return Configuration(given, **standard)


def read_size(text: str) -> int:
    """Bytes from a text such as 100MB, 2GiB or 4096. Raises InputError for any other."""
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?", text.strip(), re.IGNORECASE)
    if not found:
        raise InputError(
            f"a size is a number, with KB, MB, GB, TB or KiB, MiB, GiB, TiB behind it, or bytes, got {quoted(text)}"
        )
    number, prefix, binary = found.groups()
    size = float(number) * (1024 if binary else 1000) ** (" KMGT".index(prefix.upper() or " "))
    if size > LARGEST_SIZE:
        raise InputError(
            f"a size is at most {LARGEST_SIZE // 2**60} EiB, got {quoted(text)}; leave it out for no limit"
        )
    return int(size)
