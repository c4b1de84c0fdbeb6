"""Declaration of the extension: sequences of systems as problems, the command `workbench flow` and the view Flow."""

from workbench.registry.extensions import Command, Extension, PageView

EXTENSION = Extension(
    name="flow",
    title="Rising bubbles and other sequences of systems, step by step",
    package="workbench.extensions.flow",
    install="cg-workbench",
    blocks={
        "problem": {
            "rising-bubbles": "workbench.extensions.flow.rising_bubbles",
            "heat-steps": "workbench.extensions.flow.heat_steps",
            "recorded": "workbench.extensions.flow.records",
        }
    },
    facts="blocks.toml",
    views=(
        PageView(
            place="flow",
            title="Flow",
            make="workbench.extensions.flow.page.on_page:flow_view",
            flush=True,
            takes="workbench.extensions.flow.page.on_page:is_sequence",
        ),
    ),
    widgets={
        "FlowView": "workbench.extensions.flow.page.flow_view",
        "flow": "workbench.extensions.flow.page.on_page",
    },
    static="page/static",
    commands={
        "flow": Command(
            "solve a sequence of systems: bubbles that rise, heat that spreads, or a record of either",
            "workbench.extensions.flow.command:add",
        )
    },
)
