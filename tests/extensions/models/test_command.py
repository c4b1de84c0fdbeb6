"""`workbench scaling` on the command line."""

import json

import pytest

from tests.cli.test_cli import run

SMALL = ("scaling", "poisson7", "--n", "8", "--planes", "64")


def test_it_prints_curves_crossings_and_notes(capsys, tmp_path):
    picture = tmp_path / "curves.svg"
    status, out, err = run(capsys, *SMALL, "--shape", "boxes", "--picture", str(picture))
    assert (status, picture.exists()) == (0, True)
    assert "64 x 64 x 64 unknowns in boxes, modelled on ARCHER2" in out
    assert "Pipelined CG takes less time than CG from 512 ranks on" in out
    assert "nothing was measured on several ranks" in out
    assert f"wrote the figure to {picture}" in err


def test_json_has_the_numbers(capsys):
    _, out, _ = run(capsys, *SMALL, "--solver", "cg", "--deflation", "blocks:2", "--cluster", "mox", "--json")
    found = json.loads(out)
    (name, seconds), *_ = found["seconds"].items()
    assert name == "CG, blocks:2"
    assert (found["counts"][0], found["counts"][-1]) == (4, 4096)
    assert 0 < found["coarse"][name][0] < seconds[0]
    assert seconds[-1] is None
    assert any("the coarse level takes" in sentence for sentence in found["sentences"])


@pytest.mark.parametrize(
    ("more", "sentence"),
    [
        (["--cluster", "q9550"], "unknown cluster 'q9550'"),
        (["--solver", "hybrid1"], "the model of ranks has one device for each, and solver hybrid1 uses two"),
        (["--noise", "-1"], "noise is the mean delay in seconds"),
        (["--preconditioner", "ic"], "preconditioner ic does not run on ranks"),
    ],
)
def test_wrong_input_is_a_sentence(capsys, more, sentence):
    status, _, err = run(capsys, *SMALL, *more)
    assert status == 2
    assert sentence in err
