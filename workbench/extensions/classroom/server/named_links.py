"""Links of the start page: problems and views with a name, one press away."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from urllib.parse import quote

from workbench.extensions.classroom.server.start_pictures import picture_of
from workbench.live.ui.page_link import PARAMETER, VIEW
from workbench.run import Configuration, configure
from workbench.run.choices.share_link import to_link

RACE = "compare.race:start"
"""The race of the page, which starts when it is shown."""


@dataclasses.dataclass(frozen=True)
class NamedLink:
    """title, words: as the card shows them. view: the place in the page. made: the problem and method, None for those
    with which the page opens."""

    title: str
    words: str
    view: str
    made: Callable[[], Configuration] | None = None

    @property
    def picture(self) -> str:
        """The small picture of the card, as SVG."""
        return picture_of(self.title)

    def address(self, base: str) -> str:
        """The address, below the base of the pages."""
        asked = [] if self.made is None else [f"{PARAMETER}={quote(to_link(self.made()))}"]
        return f"{base}?{'&'.join([*asked, f'{VIEW}={quote(self.view)}'])}"


LINKS = (
    NamedLink(
        "50 random bubbles",
        "Density ratio 0.001: how much does a vector for each bubble in each block save?",
        RACE,
        lambda: configure(
            "bubbles-2d",
            n=256,
            layout="random",
            count=50,
            geometry_seed=3,
            preconditioner="neumann:2",
            deflation="levelset:8",
        ),
    ),
    NamedLink(
        "8 bubbles in a cube",
        "Eight bubbles of 48³ cells, as in Table 4 of the two-level paper, as a race.",
        RACE,
        lambda: configure("bubbles-3d", n=48, preconditioner="neumann:2", deflation="levelset:8"),
    ),
    NamedLink(
        "Two layers",
        "Table 2 of the same paper: stripes along the interface.",
        "solve.solve",
        lambda: configure("two-layer", n=128, preconditioner="neumann:2", deflation="stripes"),
    ),
    NamedLink(
        "A stiffness matrix",
        "No grid: 3948 unknowns, generated, as large as bcsstk15.",
        RACE,
        lambda: configure("stand-in", preconditioner="ic"),
    ),
    NamedLink(
        "Pipelined CG against CG",
        "One synchronization an iteration: what does it cost where nothing waits?",
        RACE,
        lambda: configure("poisson5", n=512, solver="pipecg"),
    ),
    NamedLink(
        "Eight right-hand sides",
        "Block CG solves them at once, and notices that they have rank 4.",
        "solve.solve",
        lambda: configure("poisson5", n=45, rhs="rank4:8", solver="block-cg"),
    ),
    NamedLink(
        "A direction from each of nine boxes",
        "Multipreconditioned CG with overlapping boxes.",
        "solve.solve",
        lambda: configure("poisson-fd", n=128, solver="mpcg", preconditioner="schwarz:3x3,overlap=4"),
    ),
    NamedLink("Rising bubbles", "A pressure equation in each time step, with an interface that moves.", "flow.flow"),
    NamedLink("CG, line by line", "Each vector of an iteration, on a grid small enough to see.", "learn.step"),
    NamedLink(
        "Which pair is fastest?", "Pairs of levels for the problem, the promising ones measured.", "compare.suggest"
    ),
)
