"""Declaration of the extension: lessons and their views."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="lessons",
    title="Seven lessons of 45 minutes, with exercises",
    package="workbench.extensions.lessons",
    install="cg-workbench",
    widgets={
        "Geometry2D": "workbench.extensions.lessons.page.geometry",
        "Lesson": "workbench.extensions.lessons.page.exercise",
        "MoveLines": "workbench.extensions.lessons.page.move_lines",
        "ask": "workbench.extensions.lessons.page.own",
        "PolynomialView": "workbench.extensions.lessons.page.polynomial",
    },
    static="page/static",
)
