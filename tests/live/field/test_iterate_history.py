"""States of x that were kept while a run went on, and what they show against the last one."""

from __future__ import annotations

import numpy as np

from workbench.live.field.cuts import Cut
from workbench.live.field.iterate_history import AGAINST, MOST, IterateHistory
from workbench.run import Quantity, Snapshot


def seen(iteration, cut, values=None):
    look = Snapshot(Quantity.SOLUTION, cut)
    look.iteration = iteration
    look.values = np.full((2, 2), float(iteration)) if values is None else values
    return look


def test_states_are_set_against_the_final_one():
    film, cut = IterateHistory(), Cut((2, 2))
    for iteration in (0, 4, 9):
        film.add(seen(iteration, cut), final=False)
    before = film.show(0, cut)
    assert before.values is None
    assert "the 3 states of x kept so far" in before.words
    film.add(seen(9, cut), final=True)
    assert film.iterations == [0, 4]
    shown = film.show(1, cut)
    assert (shown.iteration, shown.quantity, shown.words) == (4, Quantity.ERROR, AGAINST)
    np.testing.assert_array_equal(shown.values, np.full((2, 2), 5.0))
    assert film.show(99, cut).iteration == 4


def test_of_many_states_some_are_kept_evenly():
    film, cut = IterateHistory(), Cut((2, 2))
    for iteration in range(1000):
        film.add(seen(iteration, cut), final=False)
    film.add(seen(1000, cut), final=True)
    kept = np.diff(film.iterations)
    assert MOST // 2 <= len(film.iterations) <= MOST
    assert np.all(kept == kept[0])


def test_another_section_begins_anew_and_without_states_there_is_a_sentence():
    film = IterateHistory()
    film.add(seen(3, Cut((2, 2, 2), "x", 0)), final=False)
    other = Cut((2, 2, 2), "x", 1)
    film.add(seen(5, other), final=False)
    film.add(seen(8, other), final=True)
    assert film.iterations == [5]
    film = IterateHistory()
    film.add(seen(8, other), final=True)
    assert "no x was kept" in film.show(0, other).words
