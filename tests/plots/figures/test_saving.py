"""Figure files: provenance, plotted data and column width."""

import csv
import re
import struct
import threading
import zlib

import matplotlib
import numpy as np
import pytest
from matplotlib.figure import Figure
from PIL import Image

from workbench.errors import InputError
from workbench.plots.figures import draw, draw_plane, read_provenance, save, saving
from workbench.plots.figures.columns import MIN_FONT_SIZE, resized
from workbench.plots.scenes import Axis, CellsOf, Scene, convergence_scene, row_lengths_scene, timeline_scene
from workbench.plots.scenes.plane import Colormap, Plane
from workbench.run import Run, configure, run_through
from workbench.words.names import kernel_name

PROVENANCE = {"configuration": {"problem": "two-layer (n = 8) \\ 'κ'"}, "list": [1, 2.5, None]}
KINDS = ("svg", "pdf", "png")


@pytest.fixture(scope="module")
def record():
    return run_through(Run(configure("two-layer", n=16, deflation="stripes"), trace=True)).record()


@pytest.mark.parametrize("kind", KINDS)
def test_provenance_is_written_and_read_back(record, tmp_path, kind):
    path = save(draw(convergence_scene([record])), tmp_path / f"a.{kind}", {**PROVENANCE, "run": record.provenance})
    assert path.read_bytes().startswith({"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind])
    assert list(tmp_path.iterdir()) == [path]
    found = read_provenance(path)
    assert {name: found[name] for name in PROVENANCE} == PROVENANCE
    assert found["run"] == record.provenance
    assert found["writer"]["packages"]["matplotlib"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT[\d:]{8}\+00:00", found["written"])


@pytest.mark.parametrize("kind", KINDS)
def test_files_without_provenance_are_refused(record, tmp_path, kind):
    path = save(draw(convergence_scene([record])), tmp_path / f"a.{kind}")
    with pytest.raises(InputError, match="has no provenance"):
        read_provenance(path)
    path.write_bytes(b"something else")
    with pytest.raises(InputError, match="a.*is damaged|has no provenance"):
        read_provenance(path)
    with pytest.raises(InputError, match="no figure at"):
        read_provenance(tmp_path / f"b.{kind}")


def test_decompression_bombs_are_refused(record, tmp_path):
    path = save(draw(convergence_scene([record])), tmp_path / "a.png")
    content = bytearray(path.read_bytes())
    # Width and height in the first chunk, IHDR, whose checksum follows its 17 bytes.
    content[16:24] = struct.pack("!II", 60_000, 60_000)
    content[29:33] = struct.pack("!I", zlib.crc32(content[12:29]))
    path.write_bytes(content)
    with pytest.raises(InputError, match="is damaged"):
        read_provenance(path)


def test_text_in_a_pdf_is_truetype(record, tmp_path):
    content = save(draw(convergence_scene([record])), tmp_path / "a.pdf").read_bytes()
    assert b"/FontFile2" in content
    assert b"/Type3" not in content


def test_plotted_data_are_written_as_csv(record, tmp_path):
    figure = draw(convergence_scene([record], ["a, run"]))
    save(figure, tmp_path / "a.svg", PROVENANCE, saving(figure))
    lines = (tmp_path / "a.csv").read_text(encoding="utf-8").splitlines()
    assert lines[0].startswith('# {"written"')
    rows = [row for row in csv.DictReader(lines[1:]) if row["series"] == "a, run"]
    told = record.history["residual"] / record.history["residual"][-1] * record.summary["relative_residual"]
    np.testing.assert_allclose([float(row["y"]) for row in rows], told, rtol=1e-12)
    assert [float(row["x"]) for row in rows] == list(range(record.history.count))


def test_image_cells_and_boxes_are_listed(record):
    map_of = CellsOf("iterations", np.array([[3.0, 50.0], [7.0, np.nan]]))
    cells = saving(draw(Scene("map", Axis("x"), Axis("y"), [map_of])))
    np.testing.assert_array_equal(cells["value"], [3, 50, 7, np.nan])
    boxes = saving(draw(timeline_scene(record.trace, (3, 3))))
    noted = record.trace.rows[record.trace.column("iteration") == 3]
    total = (noted["end"] - noted["start"]).sum()
    assert sum(boxes["value"]) == pytest.approx(total)
    names = {kernel_name(record.trace.kernels[kernel].name) for kernel in noted["kernel"]}
    assert {series.partition(": ")[0] for series in boxes["series"]} == names


def test_bands_are_listed_by_corners_and_bars_by_base_and_length():
    low, high = np.array([-1.0, -2.0, -3.0]), np.array([1.0, 2.0, 3.0])
    values = np.array([low, high])
    band = saving(draw_plane(Plane(values, "r", Colormap.of(values, logarithmic=False), "signed", ("", ""))))
    corners = set(zip(band["x"], band["y"], strict=True))
    assert {(x, y) for side in (low, high) for x, y in zip((0.0, 0.25, 1.0), side[[0, 1, 2]], strict=True)} <= corners
    bars = saving(draw(row_lengths_scene(np.array([3, 4, 4]))))
    assert [bars[name] for name in ("x", "y", "value")] == [[3, 4], [0, 0], [1, 2]]


def test_invisible_artists_are_not_listed():
    axes = Figure().add_subplot()
    (line,) = axes.plot([1, 2], [3, 4])
    (bar,) = axes.bar([1], [2])
    assert saving(axes.figure)["value"][-1] == 2
    line.set_visible(False)
    bar.set_visible(False)
    assert saving(axes.figure)["x"] == []


def test_saving_in_two_threads_restores_rc_params(tmp_path):
    before, inside = dict(matplotlib.rcParams), [threading.Event(), threading.Event()]

    class Slow(Figure):
        """Its first saving ends only after the second had time to begin."""

        def savefig(self, *given, **more):
            inside[0].set()
            inside[1].wait(0.5)

    class Quick(Figure):
        def savefig(self, *given, **more):
            inside[1].set()
            slow.join(0.5)

    slow = threading.Thread(target=save, args=(Slow(), tmp_path / "a.svg"))
    slow.start()
    inside[0].wait()
    save(Quick(), tmp_path / "b.svg")
    slow.join()
    assert dict(matplotlib.rcParams) == before


def test_table_columns_of_different_lengths_are_refused(record, tmp_path):
    with pytest.raises(InputError, match="must have one length"):
        save(draw(convergence_scene([record])), tmp_path / "a.svg", None, {"x": [1, 2], "y": [1]})


@pytest.mark.parametrize(("columns", "millimetres"), [(1, 85), (2, 175)])
def test_a_figure_is_as_wide_as_its_columns(record, tmp_path, columns, millimetres):
    figure = draw(convergence_scene([record] * 2, ["one run with a long name, cg + neumann:2", "another, cg + jacobi"]))
    before = figure.get_size_inches().tolist()
    path = save(figure, tmp_path / "a.png", columns=columns)
    with Image.open(path) as image:
        assert image.width / image.info["dpi"][0] * 25.4 == pytest.approx(millimetres, abs=0.2)
    assert figure.get_size_inches().tolist() == before
    made = resized(figure, columns)
    texts = [text for axes in made.axes for text in (axes.xaxis.label, axes.yaxis.label)]
    assert all(MIN_FONT_SIZE <= text.get_fontsize() <= 8 for text in texts)


@pytest.mark.parametrize("columns", [1, 2])
def test_legends_and_titles_lie_within_the_figure(record, columns):
    made = resized(draw(timeline_scene(record.trace)), columns)
    made.draw_without_rendering()
    (legend,) = made.legends
    for artist in (legend, *(title for axes in made.axes for title in axes.texts)):
        extent = artist.get_window_extent()
        assert extent.x0 >= -1
        assert extent.x1 <= made.bbox.width + 1
    assert made.axes[0].get_position().height > 0.1


def test_a_title_of_several_lines_leaves_the_axes_their_height(record):
    def height(title):
        made = resized(draw(timeline_scene(record.trace, title=title)), 1)
        made.draw_without_rendering()
        return made.axes[0].get_position().height * made.get_figheight()

    assert height("a problem and its method, " * 6) == pytest.approx(height("a problem"), rel=0.05)


def test_other_widths_are_refused():
    with pytest.raises(InputError, match="1 or 2 columns wide, got 3"):
        resized(Figure(), 3)
