"""Krylov methods of PETSc, on the products and preconditioners of the workbench."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.extensions.petsc import library as petsc
from workbench.registry import parameter, register
from workbench.solvers.base import MethodTraits, Solver

if TYPE_CHECKING:
    from workbench.devices.programs.workspace import Workspace


METHODS = ("cg", "pipecg", "pipeprcg", "groppcg", "fcg", "pipefcg", "pipelcg", "minres", "cr", "pipecr")
"""Methods for symmetric A that need no more of A than products, and keep x current."""
SAME = {"gropp": "groppcg", "pr-cg": "pipeprcg"}
"""PETSc's names of methods that the workbench calls otherwise."""
NAMED = ("rr", "gamma", "uu", "alpha", "beta", "delta")


@register
@dataclasses.dataclass(frozen=True)
class Petsc(Solver):
    """A method of PETSc's KSP for symmetric matrices, stepped iteration by iteration.

    A and M are those of the workbench, as Python matrices of PETSc; vectors and dot products are PETSc's. The history
    has ||r|| alone, of the unpreconditioned residual, and the run ends by the workbench's own tests. pipelcg, cr and
    pipecr compute other norms: theirs is ||b - A x||, by a product more in an iteration. alpha and beta are not known,
    so there are no Ritz values. On ranks PETSc uses the same communicator.

    Cost: PETSc's passes over its vectors, which are not fused, and a change of threads in every iteration.

    Raises InputError where petsc4py is not installed, for complex matrices with a real PETSc, for options that it does
    not know, and where PETSc ends by itself, with its reason.

    Source: Balay et al., PETSc/TAO Users Manual, ANL-21/39, chapter "KSP: Linear System Solvers".
    """

    name: ClassVar[str] = "petsc"
    title: ClassVar[str] = "a method of PETSc's KSP"
    uniform_iterations: ClassVar[bool] = False
    same_work: ClassVar[bool] = False
    in_family: ClassVar[bool] = False
    not_stepped: ClassVar[str] = "PETSc's methods are not written as paper lines"

    ksp: str = parameter("cg", "PETSc's KSPType", choices=METHODS)
    options: str = parameter("", "options of PETSc, such as -ksp_cg_single_reduction")

    @property
    def applies_m_to_r(self) -> bool:
        return self.ksp in ("cg", "fcg")

    def check(self, device: Device, traits: MethodTraits) -> None:
        petsc.need(f"solver {self.text}", {"solver": "cg"})
        if device.name != "cpu":
            raise InputError(f"solver petsc runs on device cpu, got {device.name}", changes={"device": "cpu"})

    def iterates(self, workspace: Workspace) -> Iterator[None]:
        petsc.check_real(workspace.dtype)
        device, operators, size = workspace.device, workspace.operators, workspace.size
        applied = {name: _function(device, operators[name], size, workspace.dtype) for name in ("A", "M")}
        b, x = workspace.vector("b"), workspace.vector("x")
        if b.dtype != np.float64:
            raise InputError(f"solver petsc computes in float64, and the vectors are {b.dtype}; use precision float64")
        steps = petsc.KrylovSteps(
            self.ksp, applied["A"], applied["M"], b, x, self.options, getattr(device, "communicator", None)
        )
        workspace.declare(*NAMED)
        return self._steps(steps, workspace)

    def _steps(self, steps: petsc.KrylovSteps, workspace: Workspace) -> Iterator[None]:
        for name in NAMED:
            workspace.set_scalar(name, math.nan)
        # What is not known cannot end the run.
        workspace.set_scalar("delta", math.inf)
        workspace.notes.append(f"Krylov method {self.ksp} of PETSc {petsc.version()}")
        with contextlib.closing(steps.norms()) as norms:
            for norm in norms:
                workspace.set_scalar("rr", norm * norm)
                yield


def method_of(method: str, options: str) -> Petsc:
    """PETSc's method of that name, or of the workbench's name for it. Raises InputError for one that it lacks."""
    return Petsc(SAME.get(method, method), options)


def _function(device: Device, operator: Any, size: int, dtype: np.dtype) -> Callable[[np.ndarray, np.ndarray], None]:
    """An operator as a function of NumPy arrays of any memory."""
    operator = operator if hasattr(operator, "apply") else device.applied(operator, size, dtype)
    argument, result = device.zeros(size, dtype), device.zeros(size, dtype)

    def apply(x: np.ndarray, out: np.ndarray) -> None:
        argument[:] = x
        operator.apply(argument, result)
        out[:] = result

    return apply
