"""A in the storage format that a run asks for."""

from __future__ import annotations

from workbench.devices.host.storage import WORD, Stored, stored
from workbench.devices.protocol import Device
from workbench.errors import InputError
from workbench.lazy import sparse
from workbench.operators.base import MissingEntriesError, Operator
from workbench.operators.matrix import Matrix
from workbench.process import limits
from workbench.settings import GIVEN_FORM, format_of
from workbench.words.numbers import count


def in_format(operator: Operator, text: str, device: Device) -> Operator:
    """The operator as a device is to store it, assembled where it is none of CSR; itself for format problem.

    text: a checked value of the setting `format`. Raises InputError for an operator without entries, and for a format
    whose words do not fit the machine.
    """
    if text == GIVEN_FORM:
        return operator
    name, items = format_of(text)
    if not isinstance(operator, Matrix):
        try:
            operator = Matrix(operator.to_csr())
        except MissingEntriesError:
            raise InputError(
                f"format {text} stores the entries of A, which a LinearOperator does not show; pass a sparse matrix, "
                "or leave out the format",
                changes={"format": GIVEN_FORM},
            ) from None
    if name != "csr":
        check_room(device, "A", stored(name, operator.csr), operator.csr, name, {"format": "csr"})
    return operator.in_format(name, items)


def check_room(
    device: Device, what: str, found: Stored, matrix: sparse.csr_array, name: str, changes: dict[str, object]
) -> None:
    """Raise InputError where a format needs more words than the memory of this machine, or of the device, has left.

    found: what format `name` stores of a matrix, which is called `what`. changes: the choice of another.
    """
    item, index = matrix.data.itemsize, matrix.indices.itemsize
    needed, other = found.nbytes(item, index), stored("csr", matrix).nbytes(item, index)
    free, use = limits.memory()[1], "use {} {}".format(*next(iter(changes.items())))
    why = f"{what} of {count(matrix.nnz)} entries needs {_words(needed)} in format {name}"
    if found.padding:
        why += f", {count(found.padding)} zeros among them,"
    why += f" and {_words(other)} in format csr"
    if needed > free:
        raise InputError(f"{why}; this machine has {_words(free)} free: {use}", changes=changes)
    try:
        device.need_room(needed, use)
    except InputError as error:
        raise InputError(f"{why}; {error}", changes=changes) from None


def _words(nbytes: int) -> str:
    return f"{nbytes / WORD:.3g} words ({nbytes / 1e9:.3g} GB)"
