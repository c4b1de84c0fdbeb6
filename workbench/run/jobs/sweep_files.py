"""Sweeps as files: a CSV table or one JSON object, both with provenance."""

from __future__ import annotations

import csv
import io
import json
import math
from pathlib import Path
from typing import Any

from workbench.files import write
from workbench.run.jobs.sweeping import Sweep


def to_csv(sweep: Sweep, path: str | Path) -> Path:
    """Write one row per run, and the provenance in comment lines that start with #. Raises InputError on failure."""
    text = io.StringIO()
    for key, value in {**sweep.provenance, "cancelled": sweep.cancelled}.items():
        text.write(f"# {key}: {json.dumps(value)}\n")
    table = csv.DictWriter(text, sweep.columns, lineterminator="\n")
    table.writeheader()
    table.writerows(sweep.rows)
    return write(Path(path), text.getvalue())


def to_json(sweep: Sweep, path: str | Path) -> Path:
    """Write over, rows, cancelled and provenance as one object. Raises InputError on failure."""
    return write(Path(path), json.dumps(plain(sweep), indent=1))


def plain(sweep: Sweep) -> dict[str, Any]:
    """The sweep with null for NaN and infinity, which JSON lacks."""
    whole = sweep.to_dict()
    rows = [{name: _finite(value) for name, value in row.items()} for row in whole["rows"]]
    return {**whole, "rows": rows}


def _finite(value: object) -> object:
    return None if isinstance(value, float) and not math.isfinite(value) else value
