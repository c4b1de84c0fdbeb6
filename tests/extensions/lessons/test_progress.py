"""Tries of an exercise are counted up to the first right answer."""

from workbench.extensions.lessons.progress import MOST_TRIES, Attempt, Progress


def after(*answers):
    progress = Progress("waiting:3")
    for when, (answer, right) in enumerate(answers, 1):
        progress = progress.after(Attempt("waiting:3", answer, right, float(when)))
    return progress


def test_each_other_answer_is_a_try():
    found = after(("1", False), ("2", False), ("8", True))
    assert found == Progress("waiting:3", 3, True, "8", 3.0)
    assert found.words == "solved at the 3rd try"


def test_the_same_answer_again_is_no_further_try():
    assert after(("1", False), ("1", False)).tries == 1
    assert after(("", False)).tries == 1


def test_an_answer_after_the_right_one_changes_no_count():
    found = after(("8", True), ("9", False), ("7", False))
    assert (found.tries, found.solved, found.answer, found.when) == (1, True, "7", 3.0)


def test_words_begin_with_the_first_try_and_counts_have_an_end():
    assert Progress("waiting:3").words == ""
    assert after(("1", False)).words == "1st try"
    many = Progress("waiting:3", MOST_TRIES, False, "1").after(Attempt("waiting:3", "2", False, 1.0))
    assert many.tries == MOST_TRIES
