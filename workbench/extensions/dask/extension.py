"""Declaration of the extension: workers of a Dask cluster."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="dask",
    title="Boxes of Schwarz methods on the workers of a Dask cluster",
    package="workbench.extensions.dask",
    install="cg-workbench[cluster]",
    needs=("distributed",),
    services={"workers": "workbench.extensions.dask.box_workers:BoxWorkers"},
)
