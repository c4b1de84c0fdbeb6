"""The configuration of a run as plain data: a problem, the blocks of a method by name, settings, stopping criteria."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from workbench.deflation import CoarseSolver, Deflation, Variant
from workbench.errors import InputError, quoted
from workbench.files.columns import VectorFile
from workbench.files.data_files import path_of
from workbench.preconditioners import Preconditioner
from workbench.problems import LinearSystem, Problem
from workbench.problems.files import problem_from_text
from workbench.registry import blocks as registry
from workbench.run.choices.link_codec import is_shared, read_shared
from workbench.run.choices.stopping import Stopping
from workbench.settings import BLOCKS, GIVEN, PHASES, RUN, check_settings, family_of, is_file, settings_of
from workbench.solvers import Solver
from workbench.words.names import Parts, code, method_code, method_name, run_parts

registry.add_package("workbench.run.jobs", "deflation")


@dataclasses.dataclass(frozen=True)
class Configuration:
    """The complete description of one run.

    The constructor also takes the names of blocks. rhs: `problem` is the problem's own b, `ones` is b = 1,
    `ones-scaled` is b = A x* with x* = 1/sqrt(N), `random` is uniform in [0, 1). x0: `problem` is the problem's own
    initial guess, `zero` is 0, `random` is uniform in [0, 1). seed: determines all random numbers. precision:
    `float64`, or `mixed`, which stores vectors in single precision (see `workbench.run.loop.single.mixed`). format: the
    form of A on a device, `problem` as the problem has it, else one of `workbench.settings.FORMATS`, or
    `csr:<work-items a row>`. az: the form of AZ on a device, one of `workbench.settings.AZ_FORMS`. reduction: `device`
    or `host`, which adds the partial sums of an accelerator. cluster: the workers that solve the boxes of a Schwarz
    method, `local:<processes>` or the address of a Dask scheduler, None for this process. ranks: processes that share
    the rows by MPI, see `workbench.run.loop.start_on_ranks`. memory_limit: bytes of device memory that the run may use,
    None for all. Raises InputError for unknown names and for values out of the bounds in `workbench.settings`.

    Examples:
        >>> from workbench.run import Configuration, configure
        >>> configuration = configure("two-layer", n=16, deflation="blocks:4")
        >>> Configuration.from_dict(configuration.to_dict()) == configuration
        True
    """

    problem: Problem
    solver: Solver
    preconditioner: Preconditioner
    deflation: Deflation
    coarse: CoarseSolver
    variant: Variant = BLOCKS["variant"].default
    device: str = RUN["device"].default
    cluster: str | None = RUN["cluster"].default
    ranks: int = RUN["ranks"].default
    memory_limit: int | None = RUN["memory_limit"].default
    stopping: Stopping = dataclasses.field(default_factory=Stopping)
    rhs: str = RUN["rhs"].default
    x0: str = RUN["x0"].default
    seed: int = RUN["seed"].default
    precision: str = RUN["precision"].default
    format: str = RUN["format"].default
    az: str = RUN["az"].default
    reduction: str = RUN["reduction"].default

    def __post_init__(self) -> None:
        check_settings(self, RUN)
        for kind, block_or_name in self.blocks.items():
            object.__setattr__(self, kind, registry.as_block(kind, block_or_name))
        if not isinstance(self.stopping, Stopping):
            raise InputError(f"stopping must be a Stopping, got {quoted(self.stopping)}; write Stopping(rtol=1e-8)")

    @property
    def blocks(self) -> dict[str, registry.Block]:
        """The problem and the blocks of the method, by kind."""
        return {
            "problem": self.problem,
            "solver": self.solver,
            "preconditioner": self.preconditioner,
            "deflation": self.deflation,
            "coarse": self.coarse,
            "variant": self.variant,
        }

    @property
    def choices(self) -> dict[str, Any]:
        """The blocks, the settings and the stopping criteria by name, as the constructor takes them."""
        return {**self.blocks, **settings_of(self, RUN), "stopping": self.stopping}

    @property
    def deflated(self) -> bool:
        """True if there is a second level."""
        return self.deflation.name != "none"

    @property
    def label(self) -> str:
        """The name of the method: its blocks without the problem."""
        return method_name(self.parts)

    # Cached, since lists of active runs read it several times a second.
    @cached_property
    def parts(self) -> Parts:
        """The parts of the run's name, see `workbench.words.names.run_parts`."""
        return run_parts({**self.to_dict(), **self.blocks})

    @property
    def code(self) -> str:
        """The blocks of the method as Python code, for tooltips; those of the second level only where there is one."""
        unused = ("problem",) if self.deflated else ("problem", "coarse", "variant")
        return method_code({kind: code(block) for kind, block in self.blocks.items() if kind not in unused})

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON."""
        blocks = {kind: block.to_dict() for kind, block in self.blocks.items()}
        return {**blocks, **settings_of(self, RUN), "stopping": dataclasses.asdict(self.stopping)}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> Configuration:
        """The configuration of plain data that `to_dict` made. Settings that earlier versions did not record have their
        defaults.

        Raises InputError for data that lack a block or the stopping criteria, and for values that are not allowed.
        """
        kinds = ("problem", *BLOCKS)
        if not isinstance(plain, Mapping):
            raise InputError(f"a configuration has entries by name, got {quoted(plain)}")
        absent = [name for name in (*kinds, "stopping") if not isinstance(plain.get(name), Mapping)]
        if absent:
            raise InputError(f"the configuration has no {absent[0]}")
        blocks: dict[str, Any] = {kind: registry.from_dict(plain[kind]) for kind in kinds}
        settings = {name: plain[name] for name in RUN if name in plain}
        return cls(**blocks, **settings, stopping=Stopping().changed(plain["stopping"]))


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
    cluster: str | None = None,
    ranks: int | None = None,
    memory_limit: int | None = None,
    rhs: str | None = None,
    x0: str | None = None,
    seed: int | None = None,
    precision: str | None = None,
    format: str | None = None,
    az: str | None = None,
    reduction: str | None = None,
    stopping: Stopping | Mapping[str, Any] | None = None,
    **more: Any,
) -> Configuration:
    """A configuration from short names: configure("two-layer", n=128, preconditioner="neumann:2", deflation="stripes").

    problem: a registered problem, a file, a share link, or the path of a saved configuration; keywords override the
    choices of the last two (see `workbench.run.choices.share_link`). None keeps the choice of the link, or the default
    of `workbench.settings`. stopping: a mapping replaces the criteria that it names. parameters and further keywords:
    parameters of the problem. Raises InputError for unknown names, with the nearest known one.

    Examples:
        >>> from workbench.run import configure
        >>> configure("two-layer", n=128, preconditioner="neumann:2", deflation="stripes").label
        'CG, Neumann 2, stripes along x'
    """
    base = _base(problem)
    arguments = {
        "solver": solver,
        "preconditioner": preconditioner,
        "deflation": deflation,
        "coarse": coarse,
        "variant": variant,
        "device": device,
        "cluster": cluster,
        "ranks": ranks,
        "memory_limit": memory_limit,
        "rhs": rhs,
        "x0": x0,
        "seed": seed,
        "precision": precision,
        "format": format,
        "az": az,
        "reduction": reduction,
        "stopping": base.stopping.changed(stopping) if isinstance(stopping, Mapping) else stopping,
    }
    chosen: dict[str, Any] = {name: value for name, value in arguments.items() if value is not None}
    return dataclasses.replace(base, problem=base.problem.changed({**(parameters or {}), **more}), **chosen)


def _base(problem: str | Problem) -> Configuration:
    """The configuration of a link or file, or the default blocks on a problem."""
    if isinstance(problem, str) and is_shared(problem):
        return Configuration.from_dict(read_shared(problem))
    chosen = problem_from_text(problem) if isinstance(problem, str) else problem
    defaults: dict[str, Any] = {kind: declared.default for kind, declared in BLOCKS.items()}
    return Configuration(chosen, **defaults)


def rhs_file(configuration: Configuration) -> VectorFile | None:
    """The file of right-hand sides, None where they come from none. Raises InputError where none is given."""
    if configuration.rhs == GIVEN:
        return configuration.problem.given_rhs()
    return VectorFile(path_of(configuration.rhs)) if is_file(configuration.rhs) else None


def start_file(configuration: Configuration) -> VectorFile | None:
    """The file of starting vectors, None where they come from none."""
    return VectorFile(path_of(configuration.x0)) if is_file(configuration.x0) else None


def asks_for_blocks(configuration: Configuration, system: LinearSystem | None) -> bool:
    """True if a configuration has block vectors of right-hand sides, even of one column. Raises InputError."""
    rhs = configuration.rhs
    if system is not None and system.given_b.ndim == 2:
        return True
    if file := rhs_file(configuration):
        return file.columns > 1
    return rhs == PHASES or family_of(rhs)[1] > 0
