"""Declaration of the extension: the command `workbench reproduce` and the view Papers."""

from workbench.registry.extensions import Command, Extension, PageView

EXTENSION = Extension(
    name="papers",
    title="Tables and figures of five papers, computed again",
    package="workbench.extensions.papers",
    install="cg-workbench",
    views=(PageView(place="papers", title="Papers", make="workbench.extensions.papers.page.on_page:papers_page"),),
    widgets={"PaperView": "workbench.extensions.papers.page.paper_view"},
    static="page/static",
    commands={
        "reproduce": Command(
            "reproduce tables and figures of papers, next to the published ones",
            "workbench.extensions.papers.command:add",
        )
    },
)
