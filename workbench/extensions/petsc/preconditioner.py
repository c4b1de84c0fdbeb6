"""Preconditioners of PETSc, an optional dependency."""

from __future__ import annotations

import dataclasses
from typing import ClassVar

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.extensions.petsc import library as petsc
from workbench.lazy import sparse
from workbench.operators import Operator
from workbench.operators.null_space import precision_of
from workbench.preconditioners.base import Preconditioner
from workbench.preconditioners.cycle_checks import MultigridCycle, attach_notes, check_cycle
from workbench.preconditioners.pinned import coupled_constants, pin_unknowns, project_out
from workbench.registry import parameter, register

KINDS = ("gamg", "hypre", "icc", "sor", "jacobi")


@register
@dataclasses.dataclass(frozen=True)
class PetscPreconditioner(Preconditioner):
    """M^-1 = a preconditioner of PETSc for the assembled matrix: GAMG, hypre's BoomerAMG, incomplete Cholesky, SSOR.

    Computed on one core, on the host. hypre needs a PETSc that was built with it, which `make petsc` is not. For a
    singular A, PETSc gets its null space, and the constants are projected out.

    Raises InputError if petsc4py is not installed, for a kind that this build lacks, for options that it does not know,
    for complex matrices with a real PETSc, and if the entries of A are not available.

    Source: Balay et al., PETSc/TAO Users Manual, ANL-21/39, section "Preconditioners".
    """

    name: ClassVar[str] = "petsc"
    title: ClassVar[str] = "a preconditioner of PETSc (GAMG, hypre)"
    is_cycle: ClassVar[bool] = True
    advised: ClassVar[tuple[str, ...]] = ("petsc:gamg",)

    method: str = parameter("gamg", "PETSc's PCType", choices=KINDS)
    options: str = parameter("", "options of PETSc, such as -pc_gamg_threshold 0.02")

    def check(self, device: Device) -> None:
        petsc.need(f"preconditioner {self.text}", {"preconditioner": "amg:sa"})
        petsc.check_kind(self.method)

    def setup(self, operator: Operator, device: Device) -> MultigridCycle:
        petsc.check_real(operator.dtype)
        if operator.dtype.itemsize != 8:
            raise InputError(f"preconditioner petsc computes in float64, got a matrix in {operator.dtype}; use amg:sa")
        csr = sparse.csr_array(operator.to_csr())
        null = coupled_constants(csr, precision_of(operator))
        singular, constant = null is not None, null is not None and bool(null.all())
        # PETSc takes the constants of all unknowns alone.
        matrix = csr if constant else pin_unknowns(csr, precision_of(operator)).matrix
        made = petsc.Preconditioner(self.method, matrix, self.options, constant_null_vector=constant)
        apply = made.apply if null is None else project_out(made.apply, null)
        name = f"petsc:{self.method}"
        notes = [f"preconditioner {self.method} of PETSc {petsc.version()}"]
        notes += [f"{name} has {made.levels} levels"] if made.levels else []
        notes += [f"A is singular: {name} removes the mean"] if singular else []
        notes += check_cycle(name, apply, csr.shape[0], operator.dtype)
        return attach_notes(device.callable(apply, csr.shape[0], operator.dtype), name, tuple(notes))
