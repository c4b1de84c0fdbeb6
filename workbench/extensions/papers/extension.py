"""Declaration of the extension: the command `workbench reproduce` and the view Papers."""

from workbench.registry.extensions import Command, Extension

EXTENSION = Extension(
    name="papers",
    title="Tables and figures of five papers, computed again",
    package="workbench.extensions.papers",
    install="cg-workbench",
    commands={
        "reproduce": Command(
            "reproduce tables and figures of papers, next to the published ones",
            "workbench.extensions.papers.command:add",
        )
    },
)
