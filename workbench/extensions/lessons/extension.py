"""Declaration of the extension: lessons and their views."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="lessons",
    title="Seven lessons of 45 minutes, with exercises",
    package="workbench.extensions.lessons",
    install="cg-workbench",
)
