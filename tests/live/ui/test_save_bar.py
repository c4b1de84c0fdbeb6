"""The bar that writes figures: what it asks for, what it writes, and what it says when it cannot."""

import contextlib
import csv
import io
import zipfile

import numpy as np
import pytest
from matplotlib.figure import Figure
from traitlets import TraitError

from tests.live.conftest import widgets
from workbench.errors import InputError
from workbench.live import SaveBar, Schedules
from workbench.live.ui.save_bar import provenance_line
from workbench.plots.figures import read_provenance
from workbench.plots.figures.edited import restyled
from workbench.plots.scenes import Axis, CurveOf, Scene
from workbench.plots.scenes.scene import ITERATIONS


def one_line():
    figure = Figure()
    figure.add_subplot().plot([1, 2], [3, 4], label="a")
    return figure


@pytest.fixture
def bar(tmp_path):
    return SaveBar(lambda: {"one": one_line()}, provenance=lambda: {"n": 8}, folder=tmp_path / "exports")


def test_the_button_writes_what_is_chosen_into_the_folder_and_says_where(bar, eventually):
    bar.saver.where.value = "folder"
    bar.form.change(kind="pdf", width=1)
    bar.press.click()
    eventually(lambda: bar.status.tone == "good")
    assert sorted(path.name for path in bar.folder.iterdir()) == ["one.csv", "one.pdf"]
    eventually(lambda: "one.pdf" in bar.status.text and str(bar.folder) in bar.status.text)
    assert read_provenance(bar.folder / "one.pdf")["n"] == 8
    lines = (bar.folder / "one.csv").read_text(encoding="utf-8").splitlines()[1:]
    assert [(row["series"], row["x"], row["y"]) for row in csv.DictReader(lines)] == [
        ("a", "1.0", "3.0"),
        ("a", "2.0", "4.0"),
    ]
    eventually(lambda: not bar.press.disabled)


def test_the_button_lets_the_browser_download_and_leaves_nothing_behind(bar, downloads, eventually):
    page = downloads(bar.saver.download)
    bar.press.click()
    (name, content) = eventually(page)[-1]
    assert name == "figures.zip"
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        assert sorted(archive.namelist()) == ["one.csv", "one.svg"]
        assert archive.read("one.svg").startswith(b"<?xml")
    eventually(lambda: bar.status.text == "downloaded figures.zip (2 files)")
    assert bar.status.tone == "good"
    eventually(lambda: not bar.press.disabled)
    assert not bar.folder.exists()


def test_a_page_without_code_writes_into_no_folder_of_the_server(tmp_path, served, downloads, eventually):
    def made():
        return SaveBar(lambda: {"one": one_line()}, provenance=dict, folder=tmp_path / "exports")

    assert "folder" in made().saver.where.options.values()
    served()
    bar = made()
    page = downloads(bar.saver.download)
    # What a page does not show can still come as a message.
    with contextlib.suppress(TraitError, IndexError):
        bar.saver.where.set_state({"_options_labels": ["download", "into exports/"], "index": 1})
    bar.press.click()
    eventually(page)
    assert not bar.folder.exists()


def test_scenes_are_drawn_as_they_are_saved(tmp_path):
    scene = Scene("one", ITERATIONS, Axis("y"), [CurveOf("curve", np.array([0, 1]), np.array([2.0, 3.0]))])
    bar = SaveBar(
        lambda: {"one": scene, "two": [scene, scene]}, provenance=dict, about=lambda: "of mine", folder=tmp_path
    )
    one, two = bar.save("png")
    assert (one.name, two.name) == ("one-of-mine.png", "two-of-mine.png")
    rows = ["panel,series,x,y,value", "1,curve,0.0,2.0,", "1,curve,1.0,3.0,"]
    assert one.with_suffix(".csv").read_text(encoding="utf-8").splitlines()[1:] == rows


def test_a_picture_of_too_many_cells_has_no_table(tmp_path):
    def cells(side):
        figure = Figure()
        figure.add_subplot().imshow(np.zeros((side, side)))
        return figure

    bar = SaveBar(lambda: {"few": cells(128), "many": cells(129)}, provenance=dict, folder=tmp_path)
    bar.save("png")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["few.csv", "few.png", "many.png"]


def test_what_cannot_be_saved_is_a_sentence(bar, eventually):
    with pytest.raises(InputError, match="svg, pdf, png, got 'docx'"):
        bar.save("docx")
    with pytest.raises(InputError, match="no figure to save yet"):
        SaveBar(dict, provenance=dict).save()
    bar.folder.write_text("in the way")
    bar.saver.where.value = "folder"
    bar.press.click()
    eventually(lambda: "cannot make the folder" in bar.status.text)
    assert bar.status.tone == "bad"


def test_what_nobody_foresaw_is_told(tmp_path, eventually):
    def burst():
        raise RuntimeError("a wheel came off")

    bar = SaveBar(burst, provenance=dict, folder=tmp_path)
    bar.press.click()
    eventually(lambda: bar.status.text == "saving failed by a RuntimeError: a wheel came off")
    eventually(lambda: not bar.press.disabled)


def test_schedules_save_their_sliders(tmp_path):
    view = Schedules()
    view.turn(cores=100.0)
    view.save_bar.saver.folder = tmp_path
    curves, lanes = view.save_bar.save("png")
    assert read_provenance(curves)["modelled"]["cores"] == view.sliders["cores"].value
    assert (curves.name.partition("-")[0], lanes.name.partition("-")[0]) == ("crossover", "timeline")


def test_the_dialog_leaves_runs_out_renames_them_and_prints_beneath(tmp_path):
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    axes.plot([1, 2], [3, 4], label="1: cg", gid="run 0")
    axes.plot([1], [3.5], "o", label="_ring", gid="run 0")
    axes.plot([1, 2], [5, 6], label="2: pcg", gid="run 1")
    axes.legend()
    made = {"started": "2026-01-31T12:00:00+00:00", "workbench": "0.1.0", "machine": {"cpu": "a CPU"}}
    bar = SaveBar(
        lambda: {"field z": figure},
        provenance=lambda: made,
        notes=lambda name: {"plane": "z = 0.258"} if name.startswith("field") else {},
        noted=["plane"],
        folder=tmp_path,
    )
    bar.dialog.toggle.click()
    assert bar.dialog.box.layout.display is None
    form = bar.dialog.form
    assert [form.settings[name].label for name in ("shown-0", "shown-1")] == ["1: cg", "2: pcg"]
    form.set("shown-0", False)
    form.set("label-1", "preconditioned")
    form.set("font", "serif")
    assert bar.dialog.choices.beneath == ("plane",)
    form.set("beneath-provenance", True)
    # What was chosen stays when it is opened again.
    bar.dialog.look()
    assert bar.dialog.choices.labels == {"1: cg": None, "2: pcg": "preconditioned"}
    (path,) = bar.save("svg", columns=1)
    text = path.read_text(encoding="utf-8")
    assert "preconditioned" in text
    assert "1: cg" not in text
    assert "z = 0.258" in text
    assert provenance_line(made) == "a CPU, 2026-01-31 12:00:00 UTC, workbench 0.1.0"
    assert all(part in text for part in ("a CPU", "12:00:00", "0.1.0"))
    assert "DejaVu Serif" in text
    rows_of_csv = path.with_suffix(".csv").read_text(encoding="utf-8")
    assert "preconditioned" in rows_of_csv
    # The curve and its rings are gone, and the figure on the page is as it was.
    assert "3.5" not in rows_of_csv
    assert [line.get_label() for line in axes.lines] == ["1: cg", "_ring", "2: pcg"]


def test_a_figure_with_a_caption_is_higher_by_its_lines():
    plain, captioned = Figure(figsize=(3, 2), layout="constrained"), Figure(figsize=(3, 2), layout="constrained")
    for figure in (plain, captioned):
        figure.add_subplot().plot([1, 2])
    restyled(plain, font="serif", size=8)
    restyled(captioned, font="serif", size=8, caption="one\ntwo")
    assert plain.get_size_inches()[1] == 2
    assert captioned.get_size_inches()[1] == pytest.approx(2 + 2 * 1.4 * 0.85 * 8 / 72)


def test_opening_the_dialog_again_leaves_no_widgets_behind():
    figure = Figure()
    axes = figure.add_subplot()
    bar = SaveBar(lambda: {"field": figure}, provenance=dict)
    counts = []
    for run in range(4):
        axes.clear()
        axes.plot([1, 2], [3, run], label=f"{run}: cg", gid="run 0")
        axes.legend()
        bar.dialog.look()
        counts.append(len(widgets()))
    assert len(set(counts)) == 1
