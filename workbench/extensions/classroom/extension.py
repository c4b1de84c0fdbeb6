"""Declaration of the extension: the server of the page, and views for a class."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="classroom",
    title="A server of pages for a class",
    package="workbench.extensions.classroom",
    install="cg-workbench[app]",
    needs=("voila",),
)
