"""Declaration of the extension: the command `workbench scaling`, the view Schedules and the view of a cluster."""

from workbench.registry.extensions import Command, Extension, PageView

EXTENSION = Extension(
    name="models",
    title="Times of an iteration on hosts with GPUs and on clusters that are not here",
    package="workbench.extensions.models",
    install="cg-workbench",
    views=(
        PageView(place="learn", title="Schedules", make="workbench.extensions.models.page.schedules:schedules_view"),
    ),
    widgets={
        "ClusterView": "workbench.extensions.models.page.cluster_view",
        "Schedules": "workbench.extensions.models.page.schedules",
    },
    commands={
        "scaling": Command(
            "model an iteration on 4 to 4,096 ranks of a cluster", "workbench.extensions.models.command:add"
        )
    },
)
