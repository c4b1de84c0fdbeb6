"""Declaration of the extension: PETSc's methods, its preconditioners, and its deflation."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="petsc",
    title="Methods and preconditioners of PETSc",
    package="workbench.extensions.petsc",
    install="cg-workbench",
    needs=("petsc4py",),
    blocks={
        "solver": {"petsc": "workbench.extensions.petsc.krylov_methods"},
        "preconditioner": {"petsc": "workbench.extensions.petsc.preconditioner"},
        "variant": {"pcdeflation": "workbench.extensions.petsc.pcdeflation"},
    },
    facts="blocks.toml",
    doctor="workbench.extensions.petsc.doctor:examine",
    engines={"petsc": "workbench.extensions.petsc.krylov_methods:method_of"},
)
