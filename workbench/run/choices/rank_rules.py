"""Rules for runs on ranks: which configurations have them, and the rows of each rank."""

from __future__ import annotations

import os

from workbench.devices.host.slab import Slab, slab_of
from workbench.errors import CLUSTERS, InputError
from workbench.registry import registered
from workbench.registry.extensions import service
from workbench.run.choices.configuration import Configuration
from workbench.settings import COMPACT, GIVEN_FORM, ON_DEVICE

KINDS = ("problem", "solver", "preconditioner", "deflation", "coarse", "variant")


RANKS = "ranks"
"""The service of the extension that starts ranks, see `workbench.run.loop.start_on_ranks`."""


def check_ranks(configuration: Configuration) -> None:
    """Raise InputError for a configuration with ranks that no extension starts, or that break a rule."""
    count = configuration.ranks
    if count == 1:
        return
    try:
        service(RANKS)
    except InputError as error:
        raise InputError(f"ranks {count} cannot start: {error}, or run without ranks", changes={"ranks": 1}) from None
    check_on_ranks(configuration, count)


def check_on_ranks(configuration: Configuration, count: int) -> None:
    """Raise InputError for a choice that does not run on ranks, with those that do, and for too many ranks.

    count: of the ranks, more than one, whatever the configuration has.
    """
    most = os.cpu_count() or 1
    if os.environ.get(CLUSTERS) == "none" and count > most:
        raise InputError(
            f"a page of this server may have a rank for each of the {most} cores, got {count} ranks; use {most}",
            changes={"ranks": most},
        )
    for kind in KINDS:
        block = configuration.blocks[kind]
        unused = kind in ("coarse", "variant") and configuration.deflation.name == "none"
        if block.on_ranks or unused:
            continue
        able = [name for name, made in registered(kind).items() if made.on_ranks]
        raise InputError(
            f"{kind} {block.name} does not run on ranks; use {', '.join(able)}, or run without ranks",
            changes={"ranks": 1},
        )
    if configuration.device.partition(":")[0] not in ("cpu", "cuda", "opencl"):
        raise InputError(
            f"ranks run on device cpu, cuda or opencl, got {configuration.device}", changes={"device": "cpu"}
        )
    if configuration.device != "cpu" and configuration.reduction != ON_DEVICE:
        raise InputError(
            f"reduction {configuration.reduction} does not run on ranks; use {ON_DEVICE}",
            changes={"reduction": ON_DEVICE},
        )
    for setting, value, only in (("format", configuration.format, GIVEN_FORM), ("az", configuration.az, COMPACT)):
        if value != only:
            raise InputError(
                f"{setting} {value} does not run on ranks, which store the rows of A and AZ in one way; use {only}",
                changes={setting: only},
            )
    if configuration.device != "cpu" and not (configuration.problem.has_stencil or configuration.solver.stores_rows):
        raise InputError(
            f"ranks share the rows of a matrix on device cpu, or by solver hybrid3, got {configuration.device}",
            changes={"device": "cpu"},
        )
    if configuration.problem.at_hand:
        slab(configuration, 0, count)


def slab(configuration: Configuration, rank: int, count: int, unknowns: int = 0) -> Slab:
    """The rows of a rank. unknowns: of a system given in memory.

    Raises InputError for more ranks than the problem has planes or rows.
    """
    grid = configuration.problem.grid
    if unknowns:
        return slab_of((unknowns,), rank, count, 0)
    if not configuration.problem.has_stencil:
        # A matrix has the ghosts of its pattern, in place of planes.
        return slab_of(grid or (configuration.problem.unknowns_of_rows,), rank, count, 0)
    assert grid is not None
    depth = configuration.preconditioner.ghost_planes
    why = f"preconditioner {configuration.preconditioner.text}"
    return slab_of(grid, rank, count, depth, configuration.preconditioner.planes_at_once(grid), why)
