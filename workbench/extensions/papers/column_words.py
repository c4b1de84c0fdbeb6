"""Headings of a report: columns of rows in words, with their units and where their numbers come from."""

from __future__ import annotations

SOURCES = {
    "printed": "printed",
    "reference": "reference",
    "modelled": "modelled",
    "measured": "measured here",
    "our": "ours",
    "program": "as the paper's program",
}
"""First words of columns, and what they say of the numbers."""
UNITS = {"s": "seconds", "ms": "milliseconds", "percent": "%", "Mflop": "Mflop"}
"""Last words of columns that are units."""
PLACES = {"cpu": "on the cores", "gpu": "on the GPU", "device": "on the device", "accelerator": "on an accelerator"}
"""Machines; as the last words of a heading they follow the unit."""
METHODS = {
    "cg": "CG",
    "pipecg": "pipelined CG",
    "hybrid1": "hybrid 1",
    "hybrid2": "hybrid 2",
    "hybrid3": "hybrid 3",
    "library": "as a library",
}
WORDS = {
    "AZ": "AZ in the setup",
    "E": "E in the setup",
    "E_solver": "solver of E in the setup",
    "GB_per_s": "bandwidth, GB/s",
    "area_change": "relative change of the area",
    "array": "array",
    "b": "right-hand sides b",
    "band": "with the band",
    "below_a_tenth_of_the_largest": "eigenvalues below a tenth of the largest",
    "best": "best method",
    "best_hybrid": "best hybrid method",
    "block-cg_most": "most right-hand sides, block CG",
    "block_cg_s16_over_printed": "block CG with 16 right-hand sides over the printed count",
    "busy": "busy time",
    "by_table2": "operations by Table 2",
    "cells_of_a_vector": "cells of a vector",
    "centre": "height of the centre",
    "circularity": "least circularity",
    "clSPARSE_2080S": "rate of clSPARSE on the 2080S, GFLOP/s",
    "clSPARSE_i5": "rate of clSPARSE on the i5, GFLOP/s",
    "2080S": "rate on the 2080S, GFLOP/s",
    "i5": "rate on the i5, GFLOP/s",
    "without_waits_2080S": "rate on the 2080S without waits, GFLOP/s",
    "d": "vectors d",
    "dense_cores": "with dense triangular solves, on the cores",
    "dense_over_inverse": "dense triangular solves over the inverse",
    "band_over_inverse": "band over the inverse",
    "dense": "with dense triangular solves",
    "entries": "entries",
    "fits": "fits the GPU",
    "gain": "gain over one right-hand side",
    "cpu_gain": "gain over one right-hand side on the cores",
    "circularity_time": "time of the least circularity",
    "rise_velocity_time": "time of the greatest rise velocity",
    "centre_time": "time of the centre",
    "device": "device",
    "2080S_ms": "milliseconds of an iteration on the 2080S",
    "cpu_auto": "by the kernel that is chosen, on the cores",
    "cpu_plain": "with a launch for each sweep, on the cores",
    "implied_tolerance": "tolerance that the print implies",
    "groups_at_the_end": "two groups at the end",
    "in_boxes": "in boxes",
    "inverse": "with the explicit inverse",
    "inverse_cores": "with the explicit inverse, on the cores",
    "items_of_a_group": "items of a group",
    "jump_factor": "factor of the jump",
    "largest": "largest eigenvalue",
    "largest_jump_after": "largest jump after eigenvalue",
    "launches": "with a launch for each sweep",
    "modelled_library": "over a library, modelled",
    "line_10": "in line 10",
    "most": "most right-hand sides",
    "nnz": "non-zeros",
    "nnz/N": "non-zeros of a row",
    "nnz_off": "deviation of the non-zeros",
    "of_nnz": "of non-zeros",
    "once": "operations once",
    "other": "elsewhere",
    "other_setup": "other parts of the setup",
    "ours_is": "ours is",
    "over_pcg": "speed-up over PCG",
    "persistent": "with one persistent kernel",
    "pseudo-block-cg_most": "most right-hand sides, recurrences side by side",
    "pseudo_block": "operations of recurrences side by side",
    "ratio": "persistent kernel over launches",
    "residual_at_10": "residual after 10 iterations",
    "residual_at_20": "residual after 20 iterations",
    "rise_velocity": "greatest rise velocity",
    "row": "non-zeros of a row",
    "row_min_mean_max": "least, mean and most non-zeros of a row",
    "second_velocity": "second greatest rise velocity",
    "slower_cores": "with slower cores",
    "smallest": "smallest eigenvalue",
    "speedup": "speed-up",
    "sum": "operations in all",
    "sum_cg": "with the sum of the boxes",
    "sum_cg_iterations": "iterations with the sum of the boxes",
    "words_5N": "words, 5 N",
}
"""Columns, without source and unit, whose words are not those of their names."""


def quantity_words(column: str) -> str:
    """The quantity of a column with its unit, without the source.

    Examples:
        >>> from workbench.extensions.papers.column_words import quantity_words
        >>> quantity_words("printed_cpu_s"), quantity_words("printed_best_hybrid")
        ('seconds on the cores', 'best hybrid method')
    """
    return "as stated" if column in SOURCES else _quantity(_parts(column)[1])


def column_words(column: str) -> str:
    """The heading of a column: its quantity with the unit, and the source of its numbers.

    Examples:
        >>> from workbench.extensions.papers.column_words import column_words
        >>> column_words("modelled_gpu_s"), column_words("setup_s")
        ('seconds on the GPU, modelled', 'setup, seconds')
    """
    source, rest = _parts(column)
    return ", ".join(filter(None, (_quantity(rest), source)))


def _parts(column: str) -> tuple[str, str]:
    """The source in words, and the rest of the name."""
    if column in WORDS:
        return "", column
    first, _, rest = column.partition("_")
    if first not in SOURCES:
        return "", column
    # A column may be named by its source alone.
    return (SOURCES[first], rest) if rest else ("", column)


def _quantity(name: str) -> str:
    if name in WORDS:
        return WORDS[name]
    body, _, last = name.rpartition("_")
    unit = UNITS.get(last, "")
    body = body if unit else name
    if name in UNITS:
        return UNITS[name]
    if body in PLACES:
        return " ".join(filter(None, (unit, PLACES[body])))
    said = WORDS.get(body) or " ".join({**PLACES, **METHODS}.get(word, word) for word in body.replace("_", " ").split())
    return f"{said}, {unit}" if unit else said
