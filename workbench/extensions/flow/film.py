"""The film of a sequence, as a GIF: of the states that a reel has kept, or of the phases that the sequence keeps."""

from __future__ import annotations

import numpy as np

from workbench.extensions.flow.plane_scene import PHASE, Look, film_plane
from workbench.extensions.flow.scenes import Reel, curves
from workbench.plots.figures.film import frame, gif
from workbench.sequences.sequence import Sequence

FRAMES = 40
"""Frames of the film of phases."""


def film_of(reel: Reel) -> bytes:
    """The film of a sequence. Raises InputError before its first step."""
    return gif(frame(plane, scenes) for plane, scenes in reel.frames)


def film_of_kept(sequence: Sequence) -> bytes:
    """The film of the phases of a sequence after its end. Raises InputError before its first step."""
    steps = np.unique(np.linspace(1, sequence.steps, min(FRAMES, sequence.steps)).astype(int)).tolist()
    shown = ((film_plane(sequence, Look(PHASE, step=step)), step) for step in steps)
    return gif(frame(plane, curves(sequence, step)) for plane, step in shown if plane is not None)
