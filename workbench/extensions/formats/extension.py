"""Declaration of the extension: the command `workbench formats` and the view Storage of Inspect."""

from workbench.registry.extensions import Command, Extension, PageView

EXTENSION = Extension(
    name="formats",
    title="Storage formats of a matrix compared: words, padding, the time of a product",
    package="workbench.extensions.formats",
    install="cg-workbench",
    views=(
        PageView(
            place="inspect",
            formerly=("compare.storage",),
            title="Storage",
            make="workbench.extensions.formats.page:on_page",
            flush=True,
        ),
    ),
    widgets={"StorageView": "workbench.extensions.formats.page"},
    commands={
        "formats": Command(
            "words and padding of A in each storage format, and of AZ; with --time products",
            "workbench.extensions.formats.command:add",
        )
    },
)
