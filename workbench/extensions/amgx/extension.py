"""Declaration of the extension: NVIDIA's algebraic multigrid as a preconditioner."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="amgx",
    title="Algebraic multigrid of NVIDIA's AmgX",
    package="workbench.extensions.amgx",
    install="cg-workbench",
    needs=("pyamgx",),
    blocks={"preconditioner": {"amgx": "workbench.extensions.amgx.preconditioner"}},
    facts="blocks.toml",
    doctor="workbench.extensions.amgx.doctor:examine",
)
