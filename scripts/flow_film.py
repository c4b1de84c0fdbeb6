"""Make docs/images/rising_bubbles.gif: eight bubbles rising, with the iterations of two methods on the same systems.

flow_film.py [OUTPUT.gif]
"""

from __future__ import annotations

import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from workbench.extensions.flow.film import film_of  # noqa: E402 - the package of this checkout, by the path above
from workbench.extensions.flow.plane_scene import PRESSURE, Look  # noqa: E402
from workbench.extensions.flow.scenes import Reel  # noqa: E402
from workbench.sequences.sequence import Sequence  # noqa: E402

BUBBLES = {"n": 128, "count": 8, "height": 1.6, "eotvos": 4.0, "density_ratio": 0.01, "viscosity_ratio": 0.05}
METHOD = {"preconditioner": "neumann:2", "deflation": "levelset:16"}
OTHER = {"preconditioner": "jacobi", "deflation": "none"}
FRAMES = 56
MOST_BYTES = 1_500_000


def main() -> None:
    """Step to time 2 and write the film."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "docs/images/rising_bubbles.gif"
    sequence = Sequence("rising-bubbles", until=2.0, others=[OTHER], **BUBBLES, **METHOD)
    reel = Reel(sequence, Look(PRESSURE), FRAMES)
    for step in sequence:
        reel.note()
        print(f"\rstep {step.number}, time {step.time:.3f}", end="", file=sys.stderr)
    film = film_of(reel)
    if len(film) > MOST_BYTES:
        raise SystemExit(f"the film has {len(film)} bytes, at most {MOST_BYTES} are wanted; make fewer frames")
    path.write_bytes(film)
    print(f"\n{path}: {len(reel.frames)} frames, {len(film)} bytes")


if __name__ == "__main__":
    main()
