"""Printed numbers of a target next to ours, and how far apart they are."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from workbench.extensions.papers.column_words import quantity_words
from workbench.extensions.papers.printed import printed_text
from workbench.extensions.papers.standing import NOT_EXPLAINED, NOTABLE, OF_SUPPORT, Reason, Standing
from workbench.words.numbers import deviation_text

TIMES_OFF = 3.0
"""The ratio of a modelled and a printed number, in either direction, beyond which the model does not apply."""
NOT_APPLIED, AS_PRINTED = "model does not apply", "as printed"
UNEXPLAINED = "Not explained"
"""The beginning of the sentence on deviations without a reason."""
PRINTED, READ_OFF, REFERENCE = "printed", "read off the figure", "reference"
"""Sources of the numbers of a paper: its text, a curve or bar that was measured in a figure, or published data."""
THEIRS = (PRINTED, READ_OFF, REFERENCE)
Row = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, kw_only=True)
class Compared:
    """A printed column and ours, declared once per target.

    printed: the column. ours: that of what is counted or measured here, the first that a row has; spread: that of its
    range. modelled: that of what is modelled for the paper's machine. sizes: the paper's size and ours, columns or
    numbers; only where they are equal is ours compared, and with model_of_ours what is modelled too. elsewhere: ours
    are times of this machine and the printed ones of another, which gives a ratio and no deviation. curve: the name of
    its points in a picture, with {columns} of the row, "" where they are not drawn. here: that of ours, where it
    differs. source: of the numbers of the paper. drawn: they are in the picture, not in the table alone.

    reasons: of deviations by more than `NOTABLE` percent and of other words, by a part of the name of a row and what is
    printed in it, "" for all rows; the first that fits holds, and without one a deviation is not explained. uncounted:
    why a row is no independent comparison, "" for one that is. untried: why nothing here has the place of what is
    printed in a row. fitted: the numbers of the model that were fitted to these entries. quantity: the column in words,
    by default those of its name.
    """

    printed: str
    ours: str | tuple[str, ...] = ()
    spread: str = ""
    modelled: str = ""
    sizes: tuple[str | int, str] | None = None
    model_of_ours: bool = False
    elsewhere: bool = False
    curve: str = ""
    here: str = ""
    source: str = PRINTED
    drawn: bool = True
    reasons: Mapping[str, Reason] = dataclasses.field(default_factory=dict)
    uncounted: Callable[[Row], str] = lambda _: ""
    untried: Callable[[Row], str] = lambda _: ""
    fitted: str = ""
    quantity: str = ""

    def of(self, row: Row, name: str) -> PrintedValue | None:
        """The comparison in a row; None where nothing is printed in it."""
        printed = row.get(self.printed)
        if printed is None:
            return None
        names = (self.ours,) if isinstance(self.ours, str) else self.ours
        ours = next((row[column] for column in names if row.get(column) is not None), None)
        paper, here = self._sizes(row)
        return PrintedValue(
            row=name,
            column=self.printed,
            printed=printed,
            ours=ours,
            spread=row.get(self.spread),
            modelled=row.get(self.modelled),
            paper_size=paper,
            our_size=here,
            model_of_ours=self.model_of_ours,
            elsewhere=self.elsewhere,
            source=self.source,
            alone=not (self.ours or self.modelled),
            reason=next((reason for part, reason in self.reasons.items() if part in f"{name}, {printed}"), None),
            uncounted=self.uncounted(row),
            untried=self.untried(row),
            fitted=self.fitted,
            quantity=self.quantity or quantity_words(self.printed),
        )

    def _sizes(self, row: Row) -> tuple[Any, Any]:
        if self.sizes is None:
            return None, None
        paper, here = self.sizes
        return row[paper] if isinstance(paper, str) else paper, row[here]


@dataclasses.dataclass(frozen=True, kw_only=True)
class PrintedValue:
    """A printed value of a row, and ours. Fields as in `Compared`; a printed list is a range, or is compared with a
    list of ours one by one. alone: nothing here has its place. The deviations are in percent, None without a
    comparison."""

    row: str
    column: str
    printed: Any
    ours: Any = None
    spread: Sequence[float] | None = None
    modelled: Any = None
    paper_size: Any = None
    our_size: Any = None
    model_of_ours: bool = False
    elsewhere: bool = False
    source: str = PRINTED
    alone: bool = False
    reason: Reason | None = None
    uncounted: str = ""
    untried: str = ""
    fitted: str = ""
    quantity: str = ""

    @property
    def same_size(self) -> bool:
        return self.paper_size == self.our_size

    @property
    def ours_percent(self) -> float | None:
        """The deviation of what is counted or measured here."""
        return deviation(self.printed, self.ours) if self.same_size and not self.elsewhere else None

    @property
    def modelled_percent(self) -> float | None:
        """The deviation of what is modelled."""
        return deviation(self.printed, self.modelled) if self.same_size or not self.model_of_ours else None

    @property
    def percent(self) -> float | None:
        """The larger one of both deviations."""
        known = [each for each in (self.ours_percent, self.modelled_percent) if each is not None]
        return max(known, key=abs, default=None)

    @property
    def compared(self) -> tuple[Any, bool]:
        """Our value with that deviation, and whether it is modelled; None where nothing is compared."""
        if self.percent is None:
            return None, False
        return (self.ours, False) if self.percent == self.ours_percent else (self.modelled, True)

    @property
    def ratio(self) -> float | None:
        """Ours over the printed number, also for times of another machine; None for unequal sizes."""
        found = deviation(self.printed, self.ours) if self.same_size else None
        return None if found is None else 1 + found / 100

    @property
    def applies(self) -> bool:
        """False where a model is off by more than `TIMES_OFF` times."""
        if self.percent is None or not self.compared[1]:
            return True
        return 1 / TIMES_OFF <= 1 + self.percent / 100 <= TIMES_OFF

    @property
    def verdict(self) -> str:
        """The deviation in words, or that the model does not apply; of words their agreement."""
        if self.agrees is not None:
            return AS_PRINTED if self.agrees else f"not {AS_PRINTED}"
        return deviation_text(self.percent) if self.applies else NOT_APPLIED

    @property
    def notable(self) -> bool:
        """True if its deviation needs a reason."""
        return self.agrees is False or (self.percent is not None and abs(self.percent) > NOTABLE)

    @property
    def agrees(self) -> bool | None:
        """True if words are as printed; None for numbers, where none of ours are known, and for a tie."""
        ours = self._in_words
        if not isinstance(self.printed, str) or ours is None or not self.same_size or self.tie:
            return None
        if isinstance(ours, str):
            return self.printed == ours
        return (ours > 1) == (self.printed == "above 1")

    @property
    def tie(self) -> bool:
        """True where "above 1" or "below 1" is printed, and ours is within `NOTABLE` percent of 1."""
        ours = self._in_words
        return isinstance(self.printed, str) and isinstance(ours, int | float) and abs(100 * (ours - 1)) <= NOTABLE

    @property
    def _in_words(self) -> Any:
        return self.ours if self.ours is not None else self.modelled

    @property
    def said(self) -> str:
        """The reason of a notable deviation, which begins with what it rests on; "" for any other."""
        if not self.notable:
            return ""
        return self._reason.words if self._reason else NOT_EXPLAINED

    @property
    def _reason(self) -> Reason | None:
        """The reason; none where ours is not finite, since none is of that."""
        return self.reason if self.percent is None or math.isfinite(self.percent) else None

    @property
    def standing(self) -> Standing:
        """How it counts."""
        if self.percent is None and self.agrees is None:
            return Standing.NOT_COMPARED
        if self.uncounted:
            return Standing.NOT_COUNTED
        if not self.notable:
            return Standing.FITTED if self.fitted else Standing.WITHIN
        return OF_SUPPORT[self._reason.support] if self._reason else Standing.OPEN

    @property
    def remark(self) -> str:
        """The reason of its deviation, or why it is not compared or not counted; what was fitted otherwise."""
        if self.standing is Standing.NOT_COUNTED:
            return f"not counted: {self.uncounted}"
        if self.said:
            return self.said
        if not self.same_size:
            return f"not compared: {printed_text(self.our_size)} here, {printed_text(self.paper_size)} printed"
        if self.untried and self.standing is Standing.NOT_COMPARED:
            return f"not compared: {self.untried}"
        if self.tie:
            return f"a tie: within {NOTABLE:.0f}% of 1"
        return f"fitted: {self.fitted}" if self.fitted and self.percent is not None else ""

    def to_dict(self) -> dict[str, Any]:
        """Plain data for JSON, the deviations included."""
        return dataclasses.asdict(self) | {
            "reason": self.reason.text if self.reason else "",
            "ratio": self.ratio,
            "ours_percent": self.ours_percent,
            "modelled_percent": self.modelled_percent,
            "percent": self.percent,
            "agrees": self.agrees,
            "said": self.said,
            "standing": self.standing.value,
            "remark": self.remark,
            "verdict": self.verdict,
            "printed_text": printed_text(self.printed),
        }


def deviation(printed: Any, ours: Any) -> float | None:
    """The deviation of ours from a printed number, in percent; from the nearer end of a printed range, 0 within it, and
    the largest of a list; infinite where ours is not finite. None where one of them is no number."""
    if ours is None or isinstance(printed, str) or isinstance(ours, str):
        return None
    if isinstance(ours, (list, tuple)):
        each = [deviation(one, other) for one, other in zip(printed, ours, strict=True)]
        return max((one for one in each if one is not None), key=abs, default=None)
    if not math.isfinite(ours):
        return math.inf
    low, high = (min(printed), max(printed)) if isinstance(printed, (list, tuple)) else (printed, printed)
    nearest = min(max(ours, low), high)
    return 0.0 if ours == nearest else 100 * (ours / nearest - 1) if nearest else math.inf


def compare(rows: Sequence[Row], named: Sequence[str], columns: Iterable[Compared]) -> list[PrintedValue]:
    """All printed numbers of some rows. named: the columns that name a row."""
    columns = tuple(columns)
    found = [column.of(row, row_name(row, named)) for row in rows for column in columns]
    return [value for value in found if value is not None]


def row_name(row: Row, named: Sequence[str]) -> str:
    return ", ".join(str(row[column]) for column in named)


def unexplained(values: Iterable[PrintedValue]) -> list[str]:
    """A sentence on the deviations by more than `NOTABLE` percent that nothing explains; none if all have a reason."""
    far = [value for value in values if value.standing is Standing.OPEN]
    if not far:
        return []
    several = len({value.column for value in far}) > 1
    texts = [f"{value.row}{f', {value.column}' if several else ''} ({_how_far(value)})" for value in far]
    return [f"{UNEXPLAINED}, more than {NOTABLE:.0f}% from the print: {'; '.join(texts)}."]


def _how_far(value: PrintedValue) -> str:
    if value.percent is not None:
        return deviation_text(value.percent)
    return f"{value.modelled if value.ours is None else value.ours} and not {value.printed}"
