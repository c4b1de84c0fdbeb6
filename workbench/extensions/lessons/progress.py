"""The progress of a reader in an exercise: how many answers were judged, and whether one of them was right."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

from workbench.words.numbers import ordinal

MOST_TRIES = 1000
"""Tries from which on they are not counted further; a browser that reports more has made them up."""


@dataclass(frozen=True)
class Attempt:
    """A judged answer. exercise: as in `Progress`. answer: as it was given. when: in seconds since 1970."""

    exercise: str
    answer: str
    right: bool
    when: float


@dataclass(frozen=True)
class Progress:
    """The state of one exercise for one reader.

    exercise: its lesson and number, such as "without-pain:1". tries: answers that were judged, up to the first right
    one. solved: an answer was right. answer: the last that was judged. when: that was, in seconds since 1970.

    Examples:
        >>> from workbench.extensions.lessons.progress import Attempt, Progress
        >>> first = Progress("without-pain:1").after(Attempt("without-pain:1", "3", False, 10.0))
        >>> second = first.after(Attempt("without-pain:1", "9", True, 20.0))
        >>> second.tries, second.solved, second.words
        (2, True, 'solved at the 2nd try')
    """

    exercise: str
    tries: int = 0
    solved: bool = False
    answer: str = ""
    when: float = 0.0

    def after(self, attempt: Attempt) -> Progress:
        """The state after an attempt. The same answer again is no further try, nor is one after the right one."""
        counts = not self.solved and (attempt.answer != self.answer or not self.tries)
        return dataclasses.replace(
            self,
            tries=min(self.tries + counts, MOST_TRIES),
            solved=self.solved or attempt.right,
            answer=attempt.answer,
            when=attempt.when,
        )

    @property
    def hint_first(self) -> bool:
        """True up to the first try: if that is wrong, it gets a hint and no numbers."""
        return self.tries < 2 and not self.solved

    @property
    def words(self) -> str:
        """The count of tries, in words; empty before the first."""
        if not self.tries:
            return ""
        return f"solved at the {ordinal(self.tries)} try" if self.solved else f"{ordinal(self.tries)} try"
