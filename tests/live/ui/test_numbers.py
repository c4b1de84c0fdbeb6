"""Numbers on the page are written as in figures and in the texts of the kernel."""

from __future__ import annotations

import json
import shutil
import subprocess

import numpy as np
import pytest

from workbench.live.ui.assets import joined
from workbench.words.numbers import amount, count, duration

VALUES = [0.0, 9.99e-7, 1e-3, 0.0999, 0.09996, 0.1, 0.4581, 1.0, 99.94, 99.96, 999.6, 7265.0, 12345.678]


def test_the_page_writes_times_amounts_and_counts_as_the_kernel_does():
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to run the script of the page")
    values = [*VALUES, *(10 ** np.random.default_rng(1).uniform(-9, 5, 200)).tolist()]
    script = joined("ui/units.js").replace("export ", "")
    script += f"\nconst values = {json.dumps(values)};"
    script += "\nconst found = values.map((x) => [timeText(x), amountText(1e9 * x), countText(Math.round(x))]);"
    made = subprocess.run(
        [node, "-e", f"{script}\nconsole.log(JSON.stringify(found));"], capture_output=True, check=True
    )
    written = [[duration(x), amount(1e9 * x), count(int(np.floor(x + 0.5)))] for x in values]
    assert json.loads(made.stdout) == written


def test_rings_that_are_close_together_are_thinned_from_the_last_one():
    """Ten of them in a row were a black bar."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("there is no node to run the script of the page")
    script = joined("plots/curvelayer.js").replace("export ", "")
    places = [[10 + 2 * k, 50] for k in range(10)] + [[200, 50]]
    script += f"\nconsole.log(JSON.stringify(apart({json.dumps(places)}, 16)));"
    made = subprocess.run([node, "-e", script], capture_output=True, check=True)
    assert json.loads(made.stdout) == [[12, 50], [28, 50], [200, 50]]
