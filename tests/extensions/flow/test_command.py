"""`workbench flow`: methods against each other on the same systems, and their film."""

from __future__ import annotations

import json

from PIL import Image

from workbench.cli import main
from workbench.sequences.sequence import Sequence

SMALL = ["flow", "--n", "17", "--until", "0.1", "--preconditioner", "neumann:2", "--json"]


def test_methods_are_ranked_on_the_same_systems_and_filmed(tmp_path, capsys):
    path = tmp_path / "x.gif"
    assert main([*SMALL, "--against", "preconditioner=mg start=zero", "--film", str(path)]) == 0
    printed = json.loads(capsys.readouterr().out)
    alone = Sequence("rising-bubbles", n=17, until=0.1, preconditioner="neumann:2").run()
    assert printed["series"]["iterations"] == alone.series["iterations"]
    rows = printed["methods"]
    assert [row["milliseconds"] for row in rows] == sorted(row["milliseconds"] for row in rows)
    iterations = {row["method"]: row["iterations"] for row in rows}
    (multigrid,) = [name for name in iterations if "start zero" in name]
    assert iterations.pop(multigrid) < min(iterations.values())
    film = Image.open(path)
    assert (film.n_frames, film.info["loop"]) == (alone.steps, 0)
    assert film.width > film.height > 300


def test_a_method_that_is_no_setting_is_refused_in_a_sentence(capsys):
    assert main([*SMALL, "--against", "mg"]) == 2
    assert "--against takes words such as preconditioner=mg, got 'mg'" in capsys.readouterr().err
