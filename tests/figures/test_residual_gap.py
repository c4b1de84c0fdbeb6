"""The residual gap figure."""

from workbench.figures import residual_gap


def test_lines_markers_and_the_marked_iteration():
    figure = residual_gap({"one": ([1.0, 0.1], [1.0, 0.2]), "two": ([1.0, 0.3], [1.0, 0.4])}, at=1)
    (axes,) = figure.axes
    drawn = [line for line in axes.get_lines() if line.get_label().startswith(("one", "two"))]
    assert [list(line.get_ydata()) for line in drawn] == [[1.0, 0.1], [1.0, 0.2], [1.0, 0.3], [1.0, 0.4]]
    assert drawn[0].get_color() == drawn[1].get_color() != drawn[2].get_color()
    assert axes.get_yscale() == "log"
    assert any(list(line.get_xdata()) == [1, 1] for line in axes.get_lines())


def test_without_methods_the_figure_is_empty():
    assert residual_gap({}).axes[0].get_legend() is None
