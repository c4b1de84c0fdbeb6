"""Wrong input in a cell of a notebook: a sentence and its line, without a traceback."""

import pytest
from IPython.core.interactiveshell import InteractiveShell

LESSON = 'from workbench.live import Lesson\nlesson = Lesson("without-pain")\n'
DEFINED = 'def f():\n    from workbench.run import configure\n    return configure("two-layer", solver="cq")\n\nf()'
WRONG = (
    (LESSON + 'lesson.check(1, "many")', 3, "'many' is not a number such as"),
    (LESSON + 'lesson.check("1")', 3, "lesson without-pain has exercises 1 to 3"),
    (DEFINED, 5, "did you mean cg?"),
)


@pytest.mark.parametrize(("cell", "line", "said"), WRONG)
def test_a_mistake_in_a_cell_is_answered_by_its_line_and_one_sentence(cell, line, said, capsys):
    shell = InteractiveShell.instance()
    try:
        shell.run_cell(cell)
    finally:
        InteractiveShell.clear_instance()
    first, sentence = capsys.readouterr().out.strip().split("\n")
    assert first == f"InputError in line {line}, {cell.splitlines()[line - 1]}"
    assert said in sentence
