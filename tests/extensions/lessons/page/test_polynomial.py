"""CG as a polynomial: eigenvalues that are dragged, deflated, chosen and written."""

import numpy as np
import pytest

from tests.live.conftest import page_says
from tests.waiting import LIMIT
from workbench.errors import InputError
from workbench.extensions.lessons.residual_polynomials import SPECTRA, cg_on
from workbench.live import PolynomialView


@pytest.fixture
def view(opened):
    return opened(PolynomialView([1, 2, 5, 9, 100.0], iteration=2))


def says(view, **content):
    page_says(view.chart, content)
    assert view.wait(LIMIT)


def curve(view, name):
    (found,) = [layer.y for layer in view.error_chart.scene.layers if layer.name == name]
    return found


def test_a_dragged_eigenvalue_moves_polynomial_error_bound_and_handle(view):
    before = curve(view, "CG bound")
    says(view, kind="moved", key="4", x=10.0, y=0.3)
    np.testing.assert_array_equal(view.values, [1, 2, 5, 9, 10])
    made = cg_on([1, 2, 5, 9, 10])
    zeros = view.chart.scene.layers[-1]
    np.testing.assert_allclose(zeros.x, made.ritz(2))
    np.testing.assert_allclose(curve(view, "CG"), np.maximum(made.error, 1e-16))
    assert (curve(view, "CG bound")[1:] < before[1:]).all()
    assert view.chart.handles[4]["x"] == 10
    assert view.field.value == "1, 2, 5, 9, 10"


@pytest.mark.parametrize("values", [[1, 2, 5, 9, 100.0], [0.001, 1, 2.0]])
@pytest.mark.parametrize("size", [0, 1])
def test_the_polynomial_goes_through_its_points_and_its_zeros(opened, values, size):
    view = opened(PolynomialView(values, iteration=2))
    view.shown.index = size
    assert view.wait(LIMIT)
    curve, points, zeros = view.chart.scene.layers[-3:]
    assert 400 < curve.x.size < 500
    assert (np.diff(curve.x) >= 0).all()
    assert curve.x[-1] >= max(values)
    drawn = set(zip(curve.x, curve.y, strict=True))
    assert drawn.issuperset(zip(points.x, points.y, strict=True))
    assert drawn.issuperset((zero, 1e-16 if size else 0.0) for zero in zeros.x)


def test_the_size_of_a_polynomial_is_in_sight_between_the_clusters(opened):
    view = opened(PolynomialView("three clusters", iteration=3))
    view.shown.index = 1
    assert view.wait(LIMIT)
    made, between = cg_on(view.values), np.linspace(1, 100, 2000)
    most = np.abs(np.prod(1 - between[:, None] / made.ritz(3), axis=1)).max()
    assert most == pytest.approx(28, abs=0.5)
    assert view.chart.scene.y.span[1] > most


def test_three_outliers_are_taken_out_as_lesson_2_says(opened):
    view = opened(PolynomialView("three outliers above", rounding=True))
    assert "It is 10⁻⁶ after 11," in view.words.text
    for place in (17, 18, 19):
        says(view, kind="pressed", key=str(place))
    assert "the CG bound says 9, by the condition number 2.00" in view.words.text
    # So the composite bound is 12, which rounding breaks.
    values = SPECTRA["three outliers above"](20)
    assert cg_on(values, 60, "float64").iterations_to(1e-6) > 12
    assert cg_on(values, 60, "float32").iterations_to(1e-6) > 12


def test_clusters_and_a_tiny_eigenvalue_are_as_lesson_2_says():
    clusters = cg_on(SPECTRA["three clusters"](20))
    assert 0.005 < clusters.error[3] < 0.015
    assert np.abs(clusters.residuals[:, 3]).max() < 0.2
    assert np.abs(clusters.polynomial(3, np.linspace(1, 100, 500))).max() == pytest.approx(28, abs=0.5)
    tiny = SPECTRA["one tiny eigenvalue (a bubble)"](20)
    whole, deflated = cg_on(tiny), cg_on(tiny[1:])
    assert whole.error[5] > 0.8
    assert deflated.error[5] < 0.01
    assert whole.iterations_to(1e-6) - deflated.iterations_to(1e-6) >= 4


def test_a_press_deflates_and_another_brings_back(view):
    says(view, kind="pressed", key="4")
    np.testing.assert_array_equal(view.seen, [1, 2, 5, 9])
    assert (view.chart.handles[4]["off"], view.slider.max) == (True, 4)
    assert view.field.value == "1, 2, 5, 9, (100)"
    assert "condition number 9.00" in view.words.text
    says(view, kind="pressed", key="4")
    assert (view.seen.size, view.slider.max) == (5, 5)
    for place in "01234":
        says(view, kind="pressed", key=place)
    assert view.words.text == "One eigenvalue is left for CG."
    np.testing.assert_array_equal(view.seen, [100])


def test_the_field_and_the_presets_set_the_spectrum(view):
    view.field.value = "0.5, (3), 40"
    assert view.wait(LIMIT)
    np.testing.assert_array_equal(view.seen, [0.5, 40])
    view.field.value = "1, many"
    assert view.wait(LIMIT)
    assert "not a number" in view.words.text
    np.testing.assert_array_equal(view.seen, [0.5, 40])
    view.preset.value = "three clusters"
    assert view.wait(LIMIT)
    np.testing.assert_array_equal(view.values, SPECTRA["three clusters"](4))
    says(view, kind="moved", key="0", x=2.0, y=0)
    assert view.preset.value == "of your own"


def test_the_slider_turns_the_iteration_and_rounding_adds_two_curves(opened):
    view = opened(PolynomialView("dense at the lower end (Strakoš)", 4, size=24))
    view.slider.value = 7
    assert view.wait(LIMIT)
    assert view.chart.scene.layers[-1].x.size == 7
    view.rounding.value, view.shown.index = True, 1
    assert view.wait(LIMIT)
    assert curve(view, "CG in float64").size > curve(view, "without rounding errors").size
    assert view.chart.scene.y.log
    assert "in float64 after 33, in float32 after 57" in view.words.text


def test_what_it_cannot_show_is_refused_in_a_sentence():
    for arguments, words in (
        ({"spectrum": "flat"}, "unknown spectrum"),
        ({"size": 61}, "size=61"),
        ({"iteration": 21}, "21"),
    ):
        with pytest.raises(InputError, match=words):
            PolynomialView(**arguments)


@pytest.mark.parametrize(
    "content", [{"kind": "moved", "key": "9", "x": 1, "y": 1}, {"kind": "moved", "key": "1", "x": None, "y": 1}]
)
def test_a_message_that_fits_no_handle_changes_nothing(view, content):
    says(view, **content)
    np.testing.assert_array_equal(view.values, [1, 2, 5, 9, 100])


def test_what_the_text_points_at_is_larger_or_thicker(opened):
    view = opened(PolynomialView("evenly spread", 4, rounding=True))

    def marked(key):
        view.pointing._receive(view.pointing, {"kind": "points", "key": key}, [])
        assert view.wait(LIMIT)
        curves = [one.name for one in view.error_chart.scene.layers if getattr(one, "chosen", False)]
        sizes = {one.name: one.size for one in view.chart.scene.layers if hasattr(one, "size")}
        thick = any(getattr(one, "chosen", False) for one in view.chart.scene.layers)
        return curves, sizes["Ritz values"], sizes["at the eigenvalues"], thick or sizes["Ritz values in float64"] > 4

    assert marked("") == ([], 5.0, 4.0, False)
    assert marked("ritz") == ([], 10.0, 4.0, False)
    assert marked("at") == ([], 5.0, 8.0, False)
    assert marked("p") == marked("copies") == ([], 5.0, 4.0, True)
    for key, name in (
        *((key, "without rounding errors") for key in ("error", "exact")),
        ("bound", "CG bound"),
        ("float32", "CG in float32"),
    ):
        assert marked(key) == ([name], 5.0, 4.0, False)


def test_former_names_of_spectra_are_known(opened):
    assert opened(PolynomialView("one tiny, as of a bubble")).preset.value == "one tiny eigenvalue (a bubble)"


def test_a_spectrum_is_typed_with_decimal_commas_and_any_separator(opened):
    view = opened(PolynomialView([1, 2], 1))
    for text, values in (("0,5; (3); 40", [0.5, 3, 40]), ("1,5 2 (7)", [1.5, 2, 7]), ("1,2,5", [1, 2, 5])):
        view.field.value = text
        assert view.wait(LIMIT)
        assert view.values.tolist() == values
    assert view.deflated.tolist() == [False, False, False]


def test_copies_of_an_eigenvalue_in_double_precision_lie_one_below_another(opened):
    view = opened(PolynomialView("dense at the lower end (Strakoš)", 10, size=24, rounding=True))

    def copies(iteration):
        view.slider.value = iteration
        assert view.wait(LIMIT)
        computed = next(layer for layer in view.chart.scene.layers if layer.name == "Ritz values in float64")
        assert computed.x.size == iteration
        return sorted(computed.y[np.abs(computed.x - 100) < 1].tolist(), reverse=True)

    # Exact CG ends at 24; in double precision it continues, and finds 100 again.
    assert view.slider.max > 40
    once, twice, thrice = copies(15), copies(20), copies(33)
    assert (len(once), len(twice), len(thrice)) == (1, 2, 3)
    np.testing.assert_allclose(thrice, [once[0], 2 * once[0], 3 * once[0]])
    assert "CG has ended: after 24 iterations the A-norm of the error is 1.41" in view.words.text
    assert "in float64 it is, after 33, " in view.words.text
    view.rounding.value = False
    assert view.wait(LIMIT)
    assert view.slider.max == 24


def test_an_eigenvalue_that_is_dragged_onto_another_takes_its_value(view):
    says(view, kind="moved", key="3", x=5.04, y=0.0)
    np.testing.assert_array_equal(view.values, [1, 2, 5, 5, 100])
    assert cg_on(view.values).iterations == 4
    says(view, kind="moved", key="3", x=5.2, y=0.0)
    assert view.values[3] == 5.2
