"""The film of a sequence, as a GIF."""

from __future__ import annotations

from workbench.extensions.flow.scenes import Reel
from workbench.plots.figures.film import frame, gif


def film_of(reel: Reel) -> bytes:
    """The film of a sequence. Raises InputError before its first step."""
    return gif(frame(plane, scenes) for plane, scenes in reel.frames)
