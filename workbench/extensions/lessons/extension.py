"""Declaration of the extension: lessons and their views."""

from workbench.registry.extensions import Extension

EXTENSION = Extension(
    name="lessons",
    title="Seven lessons of 45 minutes, with exercises",
    package="workbench.extensions.lessons",
    install="cg-workbench",
    widgets={
        "DiscVector": "workbench.extensions.lessons.page.disc_vector",
        "Geometry2D": "workbench.extensions.lessons.page.geometry",
        "Lesson": "workbench.extensions.lessons.page.exercise",
        "MarkedSteps": "workbench.extensions.lessons.page.pointing",
        "MoveLines": "workbench.extensions.lessons.page.move_lines",
        "ask": "workbench.extensions.lessons.page.own",
        "PolynomialView": "workbench.extensions.lessons.page.polynomial",
        "StepsOfBlockCG": "workbench.extensions.lessons.page.derivations",
        "StepsOfDeflation": "workbench.extensions.lessons.page.derivations",
        "StepsOfCG": "workbench.extensions.lessons.page.geometry",
        "TinyEigenvalues": "workbench.extensions.lessons.page.tiny_eigenvalues",
    },
    static="page/static",
)
