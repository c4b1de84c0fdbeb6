"""Declaration of the extension: the server of the page, and views for a class."""

from workbench.registry.extensions import Extension, PageView

EXTENSION = Extension(
    name="classroom",
    title="A server of pages for a class",
    package="workbench.extensions.classroom",
    install="cg-workbench[app]",
    needs=("voila",),
    views=(
        PageView(
            place="class",
            title="All pages",
            make="workbench.extensions.classroom.page.on_page:class_page",
            offered="workbench.extensions.classroom.page.on_page:is_teacher",
        ),
    ),
    bars=("workbench.extensions.classroom.page.on_page:class_bar",),
    static="page/static",
    services={"page_server": "workbench.extensions.classroom.page.classroom:classroom"},
)
