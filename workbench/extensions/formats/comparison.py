"""Memory of a matrix in each storage format and of AZ in each form, the choice of a device among them, and the time of
a product.

Words are of 8 bytes; an index of 4 bytes is half a word. The choice is modelled: a product is bound by memory, so it is
the format of which a product moves the fewest bytes among those that fit. `Storage.rounds` measures.
Sources: Tali, Vainikko, section II; Gupta, van Gijzen, Vuik 2013, section 5.2, for AZ.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property, partial
from typing import Any

import numpy as np

from workbench import devices
from workbench.deflation.galerkin import sparse_az
from workbench.devices.dry_run.sizes import index_bytes
from workbench.devices.host.storage import WORD, Stored, stored, stored_az
from workbench.devices.protocol import Device
from workbench.devices.traffic import product_bytes
from workbench.extensions.formats.measured import in_turns, products_of, waited
from workbench.lazy import sparse
from workbench.lines.types import accumulator
from workbench.operators import BandStencil, Matrix, Operator
from workbench.operators.base import stored_bytes
from workbench.process import limits
from workbench.registry.facts import choice_label
from workbench.run.choices.configuration import Configuration
from workbench.run.choices.conflicts import obstacles, reasons_of
from workbench.run.setup.prepare import assembled
from workbench.settings import AZ_FORMS, BY_DIAGONALS, COMPACT, FORMATS, GIVEN_FORM
from workbench.words.numbers import count, counted, duration, number

ROUNDS = 15
"""Rounds of a measurement, after one to warm up; every format has its turn in each."""
CONVERSIONS = 3
"""Rounds in which A is stored anew in each format, after one that compiles kernels."""
MOST_TIMED = 8
"""Bytes of a format that is timed, at most, as a multiple of those of CSR."""
ROWS, SEGMENTS = "csr-rows", "segments"
"""The compact forms of AZ: CSR without empty rows on accelerators, runs of rows with the same columns on the cores."""


@dataclasses.dataclass(frozen=True)
class FormatFacts:
    """A format of A or a form of AZ. nbytes: of what is stored; moved: of a product; fits: the memory that is free.

    value: of the setting that chooses it, empty for a form of another device. refused: why the configuration cannot
    have it.
    """

    name: str
    stored: Stored
    nbytes: int
    moved: int
    fits: bool = True
    value: str = ""
    refused: str = ""

    @property
    def words(self) -> float:
        """Stored words of 8 bytes."""
        return self.nbytes / WORD

    @property
    def padding(self) -> float:
        """The share of the values that are zeros of the format."""
        return self.stored.padding / max(1, self.stored.values)


@dataclasses.dataclass(eq=False)
class Storage:
    """A square matrix of N rows on a device, in all formats, and AZ, shape (N, d), for a deflation by labels.

    csr: in canonical form. operator: as the problem has it. az, labels: None without a deflation by labels; no_az: why.
    refused: why the configuration cannot have a format or a form of AZ, by setting and value. grid: cells per side, as
    of `LinearSystem`; None without a grid.
    """

    csr: sparse.csr_array
    device: Device
    operator: Operator | None = None
    az: sparse.csr_array | None = None
    labels: np.ndarray | None = None
    no_az: str = ""
    refused: Mapping[tuple[str, str], str] = dataclasses.field(default_factory=dict)
    grid: tuple[int, ...] | None = None

    @property
    def unknowns(self) -> int:
        """N."""
        return self.csr.shape[0]

    @property
    def entries(self) -> int:
        """Stored entries of A."""
        return int(self.csr.nnz)

    @cached_property
    def longest_row(self) -> int:
        """Entries of the longest row."""
        return int(np.diff(self.csr.indptr).max(initial=0))

    @cached_property
    def formats(self) -> tuple[FormatFacts, ...]:
        """The formats of A; that of the problem comes first where it is none of the others."""
        item, index, free = self.csr.data.itemsize, self.csr.indices.itemsize, self._free
        facts = []
        if (given := self.operator) is not None and not isinstance(given, Matrix):
            nbytes, rows = stored_bytes(given), self.unknowns
            # A coefficient that is the same everywhere is no array.
            bands = given.lower if isinstance(given, BandStencil) else ()
            values = nbytes // item if bands else 0
            padding = sum(int(np.count_nonzero(band == 0)) for band in bands)
            facts.append(self._facts(GIVEN_FORM, Stored(values, 0, padding), nbytes, product_bytes(nbytes, rows, item)))
        for name in FORMATS:
            of = stored(name, self.csr)
            nbytes = of.nbytes(item, index)
            moved = product_bytes(nbytes, self.unknowns, item)
            if name == "hyb" and of.values > self.unknowns * of.width:
                # The part in coordinates writes y, and the other one reads it.
                moved += 2 * self.unknowns * item
            facts.append(self._facts(name, of, nbytes, moved, nbytes <= free))
        return tuple(facts)

    @cached_property
    def az_forms(self) -> tuple[FormatFacts, ...]:
        """N x d by diagonals, as in the paper, CSR, and the compact forms of accelerators and of the cores."""
        az, labels = self.az, self.labels
        if az is None or labels is None:
            return ()
        item, index = az.data.itemsize, index_bytes(max(self.unknowns, az.nnz))
        touched = int(np.count_nonzero(np.diff(az.indptr)))
        dia, rows = stored_az(az, labels), Stored(az.nnz, az.nnz + 2 * touched + 1)
        segments = devices.device("cpu").compact_columns(az).traffic - 2 * touched * item
        found = {
            BY_DIAGONALS: (dia, dia.nbytes(item, index), self.unknowns),
            "csr": (csr := Stored(az.nnz, az.nnz + self.unknowns + 1), csr.nbytes(item, index), self.unknowns),
            ROWS: (rows, rows.nbytes(item, index), touched),
            SEGMENTS: (Stored(az.nnz, (segments - az.nnz * item) // index), segments, touched),
        }
        own = {BY_DIAGONALS: BY_DIAGONALS, SEGMENTS if self.device.name == "cpu" else ROWS: COMPACT}
        return tuple(
            self._facts(name, of, nbytes, nbytes + 2 * item * written, nbytes <= self._free, own.get(name, ""), "az")
            for name, (of, nbytes, written) in found.items()
        )

    def _facts(
        self, name: str, of: Stored, nbytes: int, moved: int, fits: bool = True, value: str | None = None,
        setting: str = "format",
    ) -> FormatFacts:  # fmt: skip
        value = name if value is None else value
        return FormatFacts(name, of, nbytes, moved, fits, value, self.refused.get((setting, value), ""))

    @cached_property
    def _free(self) -> int:
        room, free = self.device.available_memory(0), limits.memory()[1]
        return free if room is None else min(room, free)

    def of(self, name: str) -> FormatFacts:
        """The facts of one format."""
        return next(each for each in self.formats if each.name == name)

    @property
    def choice(self) -> FormatFacts:
        """The format that fits and stores entries of which a product moves the fewest bytes, those of vectors included;
        CSR where it moves as few."""
        found = [each for each in self.formats if each.name in FORMATS]
        fitting = [each for each in found if each.fits] or [self.of("csr")]
        return min(fitting, key=lambda each: (each.moved, each.name != "csr"))

    @property
    def reason(self) -> str:
        """Why it is the choice, in sentences."""
        chosen, csr, given = self.choice, self.of("csr"), self.formats[0]
        name = choice_label("format", chosen.name)
        if chosen is csr:
            others = [each for each in self.formats if each is not csr and each.name in FORMATS]
            other = min(others, key=lambda each: each.moved)
            against = f"{choice_label('format', other.name)}, the next, {number(other.moved / csr.moved)} times as many"
        else:
            against = f"CSR {number(csr.moved / chosen.moved)} times as many"
        said = f"A product in {name} moves the fewest bytes by the model; {against}"
        if given.name == GIVEN_FORM:
            said += (
                f". The form of the problem, not assembled, moves {number(given.moved / chosen.moved)} times as many"
            )
        return said

    def pays(self, seconds: Mapping[tuple[str, str], float], converted: Mapping[tuple[str, str], float]) -> str:
        """When the fastest format that is measured pays for its conversion, in a sentence. seconds, converted: medians,
        as `rounds` and `conversions` have them."""
        of_a = [key for key in converted if key[0] == "format" and key in seconds]
        if ("format", "csr") not in of_a:
            return "A product in CSR was not timed, as it does not fit the memory next to the others"
        best = min(of_a, key=lambda key: seconds[key])
        gained = seconds["format", "csr"] - seconds[best]
        if gained <= 0:
            return "CSR has the fastest product of those that A is converted to"
        after = counted(math.ceil(converted[best] / gained), "product")
        return f"{form_title('format', self.of(best[1]))} pays for its conversion from CSR after {after}"

    def products(self) -> dict[tuple[str, str], Callable[[], None]]:
        """A product, or an update by AZ, in each form that fits and is no more than `MOST_TIMED` times CSR, by setting
        and value; the device's work is waited for. Cost: storing them all at once, as far as they fit."""
        device = self.device
        made: dict[tuple[str, str], Callable[[], Any]] = {}
        dtype, left = self.csr.dtype, self._free
        values = np.random.default_rng(0).random(self.unknowns).astype(dtype)
        x, out = device.array(values, dtype), device.zeros(values.size, dtype)
        for setting, each in self._timed:
            if each.nbytes > left:
                continue
            left -= each.nbytes
            if setting == "format":
                made[setting, each.value] = partial(self._stored(setting, each).apply, x, out)
            elif (az := self.az) is not None:
                coarse = device.array(np.ones(az.shape[1]), accumulator(az.dtype))
                made[setting, each.value] = partial(self._stored(setting, each).subtract, out, coarse)
        return {name: partial(waited, device, work) for name, work in made.items()}

    def conversions(self, number: int = CONVERSIONS) -> Iterator[dict[tuple[str, str], list[float]]]:
        """Seconds so far in which A, or AZ, is stored on the device in each form that is timed, from CSR on the host,
        by setting and value, after each round. The form of the problem, which is no conversion, is left out."""
        works = {
            (setting, each.value): partial(waited, self.device, partial(self._stored, setting, each))
            for setting, each in self._timed
            if each.name != GIVEN_FORM
        }
        return in_turns(works, number)

    @property
    def _timed(self) -> list[tuple[str, FormatFacts]]:
        """The forms that fit on their own and are no more than `MOST_TIMED` times CSR, each with its setting."""
        forms = [("format", each) for each in self.formats] + [("az", each) for each in self.az_forms if each.value]
        most = min(self._free, MOST_TIMED * self.of("csr").nbytes)
        return [(setting, each) for setting, each in forms if each.nbytes <= most]

    def _stored(self, setting: str, facts: FormatFacts) -> Any:
        """A, or AZ, as the device stores it in a form."""
        device: Any = self.device
        if setting == "format":
            given = self.operator if facts.name == GIVEN_FORM else None
            return device.stored(self.csr, facts.name) if given is None else given.bind(device)
        if facts.value == COMPACT:
            return device.compact_columns(self.az)
        return device.diagonal_columns(self.az, self.labels)

    def rounds(self, number: int = ROUNDS) -> Iterator[dict[tuple[str, str], list[float]]]:
        """Seconds of products so far, by setting and value, after each round; the forms take turns within a round, so
        that a drift of the machine meets all alike. Their medians are the result."""
        return in_turns(self.products(), number)

    def plain(self) -> dict[str, Any]:
        """Plain data for JSON."""
        head = {"unknowns": self.unknowns, "entries": self.entries, "longest_row": self.longest_row}
        head |= {"device": self.device.name}
        lists = {"formats": self.formats, "az": self.az_forms}
        facts = {name: [dataclasses.asdict(each) for each in found] for name, found in lists.items()}
        return {**head, **facts, "choice": self.choice.name, "reason": self.reason}

    def text(
        self,
        seconds: Mapping[tuple[str, str], float] | None = None,
        converted: Mapping[tuple[str, str], float] | None = None,
    ) -> str:
        """Tables, and the choice. seconds, converted: medians, as `rounds` and `conversions` have them."""
        seconds, converted = seconds or {}, converted or {}
        entries = f"{count(self.entries)} entries, {self.longest_row} in the longest row"
        lines = [f"{count(self.unknowns)} rows, {entries}"]
        for setting, title, found in (("format", "format", self.formats), ("az", "AZ", self.az_forms)):
            if not found:
                continue
            head = f"{title:40}{'words':>12}{'per row':>9}{'padding':>9}{'a product':>12}  fits"
            more = f"{'time':>12}{'conversion':>12}{'= products':>12}" if seconds else ""
            lines += ["", head + more]
            for each in found:
                shown = f"{form_title(setting, each):40}{each.words:12.4g}{each.words / self.unknowns:9.3g}"
                shown += f"{each.padding:9.1%}{each.moved / 1e6:9.4g} MB  {'yes' if each.fits else 'no':4}"
                took, stored_in = (found.get((setting, each.value)) for found in (seconds, converted))
                cost = products_of(setting, stored_in, seconds)
                for value, written in ((took, duration), (stored_in, duration), (cost, number)):
                    shown += f"{'' if value is None else written(value):>12}" if seconds else ""
                lines += [shown.rstrip()]
        lines += ["", f"{self.reason}."]
        if seconds:
            lines += [f"{self.pays(seconds, converted)}."]
        return "\n".join([*lines, *([f"AZ: {self.no_az}."] if self.no_az else [])])


def form_title(setting: str, facts: FormatFacts) -> str:
    """The readable name of a format of A or of a form of AZ."""
    if setting == "format":
        return choice_label("format", facts.name)
    if facts.name == BY_DIAGONALS:
        return f"{choice_label('az', BY_DIAGONALS)}, {facts.stored.width} N"
    named = {ROWS: "CSR without empty rows (accelerators)", SEGMENTS: "Runs of rows, same columns (cores)"}
    return named.get(facts.name, "CSR")


def why_not(facts: FormatFacts) -> str:
    """Why a format cannot be chosen; empty where it can."""
    if facts.refused or facts.fits:
        return facts.refused
    return f"it needs {facts.words:.3g} words ({facts.nbytes / 1e9:.3g} GB), more than the memory that is free"


def storage_facts(matrix: sparse.csr_array, device: Device | str = "cpu") -> Storage:
    """The formats of a square matrix in canonical CSR form, on a device. Cost: passes over its indices."""
    return Storage(matrix, devices.device(device) if isinstance(device, str) else device)


def storage_of(configuration: Configuration) -> Storage:
    """The formats of a configuration's matrix on its device, and of AZ for a deflation by labels.

    Cost: assembling A. Raises InputError for a matrix without entries and for a problem that cannot be assembled.
    """
    system = assembled(configuration)
    operator = system.operator
    name = next(iter(devices.candidates(configuration.device)))
    device = devices.device(name).limited(configuration.memory_limit)
    csr = operator.csr if isinstance(operator, Matrix) else Matrix(operator.to_csr()).csr
    refused = {
        (setting, value): reasons_of(found)
        for setting, values in (("format", (GIVEN_FORM, *FORMATS)), ("az", AZ_FORMS))
        for value, found in obstacles(configuration, setting, values).items()
    }
    made = Storage(csr, device, operator, refused=refused, grid=system.grid)
    if configuration.deflation.name == "none":
        return made
    labels, _ = configuration.deflation.labels_and_boxes(operator.shape[0], system.grid, system.phase)
    if labels is None:
        made.no_az = f"deflation {configuration.deflation.text} has no labels; choose stripes, blocks or levelset"
    else:
        made.labels, made.az = labels, sparse_az(operator, labels, int(labels.max()) + 1)
    return made
