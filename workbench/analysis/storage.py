"""What a matrix takes in each storage format, which one a device would choose, and what AZ takes.

Words are of 8 bytes; an index of 4 bytes is half a word. The choice is modelled: a product is bound by memory, so it is
the format of which a product moves the fewest bytes among those that fit. `python -m benchmarks formats` measures.
Sources: Tali, Vainikko, section II; Gupta, van Gijzen, Vuik, section 5.2, for AZ.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from scipy import sparse

from workbench import devices, limits
from workbench.deflation.galerkin import sparse_az
from workbench.devices.dry_run.sizes import index_bytes
from workbench.devices.protocol import Device
from workbench.devices.traffic import product_bytes
from workbench.errors import InputError
from workbench.host.storage import WORD, Stored, stored
from workbench.number_text import count
from workbench.operators import Matrix
from workbench.run.configuration import Configuration
from workbench.settings import FORMATS

RULE = "the fewest bytes of a product, matrix and vectors, among the formats that fit; modelled, not measured"
PAPER_AZ = 5
"""Entries of a row of AZ for stripes of a 2D grid: of a row of A, since neighbours of one stripe are one entry."""


@dataclasses.dataclass(frozen=True)
class FormatFacts:
    """A format of a matrix. nbytes: of the matrix; moved: bytes of a product; fits: the memory that is free."""

    name: str
    stored: Stored
    nbytes: int
    moved: int
    fits: bool

    @property
    def words(self) -> float:
        """Of the matrix."""
        return self.nbytes / WORD


@dataclasses.dataclass(frozen=True)
class AzForm:
    """A form of AZ and its words; fits: whether every row of AZ has a place in it."""

    name: str
    words: float
    fits: bool = True


@dataclasses.dataclass(frozen=True)
class StorageFacts:
    """The formats of a square matrix of N rows on a device, and the forms of AZ, none without deflation by labels."""

    unknowns: int
    entries: int
    longest_row: int
    device: str
    formats: tuple[FormatFacts, ...]
    az: tuple[AzForm, ...] = ()

    @property
    def choice(self) -> FormatFacts:
        """The format by `RULE`; CSR where it moves as few bytes."""
        fitting = [each for each in self.formats if each.fits] or [self.of("csr")]
        return min(fitting, key=lambda each: (each.moved, each.name != "csr"))

    def of(self, name: str) -> FormatFacts:
        """The facts of one format."""
        return next(each for each in self.formats if each.name == name)

    @property
    def reason(self) -> str:
        """Why the device would choose it, in a sentence."""
        chosen, csr = self.choice, self.of("csr")
        if chosen is csr:
            others = min((each for each in self.formats if each is not csr), key=lambda each: each.moved)
            against = f"{others.name}, the next, moves {others.moved / csr.moved:.2f} times as many"
        else:
            against = f"csr moves {csr.moved / chosen.moved:.2f} times as many"
        return f"device {self.device} would choose {chosen.name}, and {against}; the rule: {RULE}"

    def plain(self) -> dict[str, Any]:
        """Plain data for JSON."""
        return {**dataclasses.asdict(self), "choice": self.choice.name, "reason": self.reason}

    def text(self) -> str:
        """A table, and the choice."""
        lines = [
            f"{count(self.unknowns)} rows, {count(self.entries)} entries, {self.longest_row} in the longest row",
            "",
        ]
        lines += [f"{'format':8}{'words':>12}{'per row':>9}{'padding':>9}{'a product':>12}  fits"]
        for each in self.formats:
            share = each.stored.padding / max(1, each.stored.values)
            shown = f"{each.name:8}{each.words:12.4g}{each.words / self.unknowns:9.3g}{share:9.1%}"
            lines += [f"{shown}{each.moved / 1e6:9.4g} MB  {'yes' if each.fits else 'no'}"]
        lines += ["", f"{self.reason[:1].upper()}{self.reason[1:]}."]
        if self.az:
            lines += ["", f"{'AZ':44}{'words':>12}{'per row':>9}"]
            for form in self.az:
                note = "" if form.fits else "  too narrow for the longest row"
                lines += [f"{form.name:44}{form.words:12.4g}{form.words / self.unknowns:9.3g}{note}"]
        return "\n".join(lines)


def storage_facts(matrix: sparse.csr_array, device: Device | str = "cpu") -> StorageFacts:
    """The formats of a square matrix in canonical CSR form, on a device. Cost: passes over its indices."""
    device = devices.device(device) if isinstance(device, str) else device
    rows, item, index = matrix.shape[0], matrix.data.itemsize, matrix.indices.itemsize
    room, free = device.available_memory(0), limits.memory()[1]
    free = free if room is None else min(room, free)
    facts = []
    for name in FORMATS:
        of = stored(name, matrix)
        nbytes = of.nbytes(item, index)
        moved = product_bytes(nbytes, rows, item)
        if name == "hyb" and of.values > rows * of.width:
            # The part in coordinates writes y, and the other one reads it.
            moved += 2 * rows * item
        facts.append(FormatFacts(name, of, nbytes, moved, nbytes <= free))
    longest = int(np.diff(matrix.indptr).max(initial=0))
    return StorageFacts(rows, int(matrix.nnz), longest, device.name, tuple(facts))


def storage_of(configuration: Configuration) -> StorageFacts:
    """The formats of a configuration's matrix on its device, and of AZ for a deflation by labels.

    Raises InputError for a matrix without entries and for a problem that cannot be assembled.
    """
    system = configuration.problem.assemble(configuration.seed)
    operator, device = system.operator, devices.device(configuration.device)
    matrix = operator if isinstance(operator, Matrix) else Matrix(operator.to_csr())
    facts = storage_facts(matrix.csr, device)
    labels, _ = configuration.deflation.labels_and_boxes(operator.shape[0], system.grid, system.phase)
    if labels is None:
        if configuration.deflation.name != "none":
            raise InputError(
                f"deflation {configuration.deflation.text} has no labels, and AZ is compared for spaces that have; "
                "choose stripes, blocks or levelset, or none"
            )
        return facts
    az = sparse_az(operator, labels, int(labels.max()) + 1)
    return dataclasses.replace(facts, az=az_forms(az))


def az_forms(az: sparse.csr_array) -> tuple[AzForm, ...]:
    """The forms of AZ, shape (N, d): the paper's N x d in 5 N words, CSR, and those of the devices."""
    lengths, item, index = np.diff(az.indptr), az.data.itemsize, index_bytes(max(az.shape[0], az.nnz))
    rows, touched = lengths.size, int(np.count_nonzero(lengths))
    segments = devices.device("cpu").compact_columns(az).traffic - 2 * touched * item
    paper = f"N x d in {PAPER_AZ} N, filled with zeros (paper)"
    return (
        AzForm(paper, PAPER_AZ * rows * item / WORD, int(lengths.max(initial=0)) <= PAPER_AZ),
        AzForm("CSR", (az.nnz * (item + index) + (rows + 1) * index) / WORD),
        AzForm("CSR without empty rows (accelerators)", (az.nnz * (item + index) + (2 * touched + 1) * index) / WORD),
        AzForm("runs of rows with the same columns (cores)", segments / WORD),
    )
