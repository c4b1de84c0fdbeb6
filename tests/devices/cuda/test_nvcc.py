"""Every kernel is CUDA C as well: nvcc compiles all of them, no GPU needed."""

from __future__ import annotations

import dataclasses
import itertools
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

import workbench.run  # noqa: F401  registers every block
from tests.conftest import DTYPES, grid_stencil
from workbench.compiler.kinds import real_of
from workbench.devices.accelerator import tile_plan
from workbench.devices.accelerator.block_algebra import SmallMatrices
from workbench.devices.accelerator.device import Accelerator
from workbench.devices.coarse import Level, Levels
from workbench.devices.cuda.repeated import Launch, barriers, fit_together, shared_bytes, source
from workbench.devices.cuda.runtime import LAYOUT
from workbench.devices.host.boxes import Boxes
from workbench.devices.host.face_coding import face_codes
from workbench.devices.kernels import (
    block_algebra,
    block_products,
    box_stencil,
    box_sweeps,
    deflation,
    draw,
    faces,
    fast_diagonalization,
    nesting,
    parameters,
    passes,
    phases,
    pieces,
    products,
    scalars,
    series,
    small,
)
from workbench.devices.kernels.kernel_text import KernelText
from workbench.devices.kernels.parameters import places_of
from workbench.devices.kernels.prelude import prelude
from workbench.devices.kernels.wavefront import Wavefront
from workbench.devices.ops.csr import RowBlock
from workbench.devices.ops.levels import parts_in_rounds
from workbench.devices.slices import VolumeSlice
from workbench.extensions.flow import device_grid, measures
from workbench.extensions.flow.two_phase_flow import Fluids, TwoPhaseFlow
from workbench.extensions.mpi.device import kernels as ranks
from workbench.lines.parse import parse
from workbench.lines.schedule import Pass, plan
from workbench.lines.shapes import infer
from workbench.lines.types import Formula
from workbench.operators import Matrix
from workbench.preconditioners import chebyshev
from workbench.registry import blocks as registry
from workbench.settings import FORMATS

NVCC = shutil.which("nvcc") or shutil.which("/usr/local/cuda/bin/nvcc")
BODY = """
    u = sqrt(1 + abs(t))*conj(x)/x if k < 0.25 else -t
    x = c*x + b*u
    g = (x, t)
    h = (u, x)
"""
SCALARS = "e = sqrt(1 + abs(g))/h if h >= 0 else -conj(c)\nc = e*e - 1"
SLOTS = {"c": 0, "b": 1, "g": 2, "h": 3, "e": 4, "a": 5, "xy": 6, "yy": 7, "xx": 8}


def _of_faces(directions, dtype):
    """Those on codes of faces, for real numbers."""
    if dtype.kind == "c":
        return
    for walled in (False, True):
        for side in (3, 4) if directions > 1 else ():
            form, given = (directions, LAYOUT.group), {"walled": walled, "cuda": True}
            yield faces.product_columns(*form, faces.wide(side), dtype.itemsize, **given).text
            tile = faces.Tile.of(LAYOUT.group, side, directions)
            assert tile
            for paired in (False, True):
                yield faces.restricted_residual(*form, tile, dtype.itemsize, most=3, **given, paired=paired).text


def _of_block_vectors(dtype):
    """Those of small matrices, and products with short and long rows."""
    wide = LAYOUT.accumulator(dtype).itemsize
    for columns in (5, 16):
        for mean in (7, 100):
            plan = block_products.CsrBlock.of(columns, dtype.itemsize, wide, mean, 64, 256, long=True, summed=True)
            yield dataclasses.replace(plan.text, bounds=None).text
        yield block_algebra.gram(columns, columns, wide, transposed=False)
        for transposed in (True, False):
            yield printed(block_algebra.column_dots, dtype, s=columns, transposed=transposed)
        yield block_algebra.Combine(columns, columns, True, -1).text
        for based, others in itertools.product((True, False), repeat=2):
            of = dict.fromkeys(("base", "factor"), (parameters.Vector,) * others)
            yield printed(block_algebra.scale, dtype, of, s=columns, based=based, sign=-1)
    totals = {"totals": (parameters.Sums, parameters.Sums)}
    yield printed(block_algebra.add_parts, dtype, totals, count=2)


def printed(function, dtype, annotations=None, **constants):
    """The text of a kernel that is a function."""
    made = Accelerator(Recorder()).function(function, dtype, annotations=annotations, **constants)
    return made.kernel[1].text


def _of_rows(dtype):
    """Products with CSR and coordinates whose rows several work-items share, or that are in tiles."""
    forms = ((False, False, True), (True, False, False), (True, True, False), (True, False, True))
    for index, (based, scaled, summed) in itertools.product((np.int32, np.int64), forms):
        form = {"based": based, "scaled": scaled, "summed": summed}
        of = products.csr_annotations(np.dtype(index), ("columns", "starts", "bounds"), **form)
        yield printed(products.csr_tiles, dtype, of)
        for part in (True, False):
            of = products.csr_annotations(np.dtype(index), ("indices", "starts"), **form, part=part)
            yield printed(products.csr, dtype, of, items_per_row=8)


def of_the_operators(dtype):
    """What the operators of one class for all devices launch on CUDA, in all their forms."""
    runtime = Keeping()
    device = Accelerator(runtime)
    for grid in ((27,), (9, 3), (3, 3, 3)):
        stencil = grid_stencil(grid, dtype)
        for main in (stencil.main, np.full(27, 2, dtype)):
            device.stencil(main, stencil.lower, stencil.strides).block(3)
        device.scaled_bands(stencil.main, stencil.lower, stencil.strides)
        device.stencil_series(stencil.lower, stencil.strides, device.zeros(27, dtype), 2)
        device.factorized_stencil(dtype.type(2), stencil.lower, stencil.strides)
        boxes, labels = Boxes.whole(grid, (3,) * len(grid)), np.zeros(27, np.int32)
        device.box_matrix(stencil.main, stencil.lower, stencil.strides, labels, boxes)
        for closed in (True, False) if dtype.kind == "f" else ():
            phase, sides = np.arange(27).reshape(grid) % 2, [closed, *[True] * (2 * len(grid) - 1)]
            codes = face_codes(phase, (1.0, 0.5, 0.25), sides, (2.0, 3.0))
            device.faces(codes, dtype).block(3)
            device.face_series(codes, dtype, 2)
            device.face_box_matrix(codes, labels, boxes)
    for columns in (5, 16):
        _of_small_matrices(device, columns, dtype)
    matrix = sparse.csr_array(stencil.to_csr())
    data, indices, starts = matrix.data, matrix.indices, matrix.indptr
    for items in (0, 1, 8):
        device.csr(data, indices, starts, items)
    for added in (False, True):
        device.csr(data, indices, starts).block(3, added=added)
    for form in FORMATS:
        device.stored(matrix, form).block(3)
    for labels in (np.arange(27) // 3, np.arange(27) % 9):
        device.diagonal_columns(matrix[:, :9], labels)
    device.csr_terms(matrix, device.zeros(27, dtype))
    device.factorized_inverse(matrix)
    lower = sparse.csr_array(sparse.tril(matrix, k=-1, format="csr"))
    device.colour_factor(lower, np.ones(27), np.arange(27), np.arange(28))
    for remote in (None, device.zeros(9, dtype)):
        RowBlock(device, data, indices, starts[:-1], starts[1:], remote=remote)
    device.volume(device.zeros(27, dtype), VolumeSlice((3, 3, 3), 2))
    device.compact_columns(matrix[:, :9])
    _of_nested_levels(device)
    parents, ends = np.arange(27) // 3, np.arange(0, 28, 3)
    level = Level(data, indices, starts, parents, ends, np.ones(27, real_of(dtype)), (1.0, 0.5))
    order, ones = np.arange(27), np.ones(27, real_of(dtype))
    for steps in range(3):
        form = Levels((level, level), order, ones, np.eye(9, dtype=dtype), 1.8, (steps,), singular=False)
        device.coarse_level(form, None, 27, dtype)
        for of_weights in {real_of(dtype), dtype}:
            several = dataclasses.replace(level, weights=np.ones((27, 2), of_weights))
            form = Levels((several,), order, ones, np.eye(18, dtype=dtype), 1.8, (steps,), singular=False)
            device.coarse_level(form, None, 27, dtype)
    parts_in_rounds((np.real(data).astype(float), indices, starts), 3, 0.1, device)
    _of_vectors(device, dtype)
    return runtime.texts


def _of_vectors(device, dtype):
    """Those on deflation vectors, sums of ranks, scalars, pieces and phases."""
    of_deflation = (deflation.add_parts, deflation.prolong, deflation.prolong_dots, deflation.column_dots)
    of_deflation += (deflation.column_sum, deflation.dense_product, deflation.coarse_dot, deflation.correct_curvature)
    for function in (*of_deflation, ranks.ghost_dots, ranks.rank_sums, scalars.arm):
        device.function(function, dtype)
    for function in (scalars.set_scalar, scalars.fill):
        device.function(function, dtype, pairs=dtype.kind == "c")
    device.kernel(scalars.keep_text(device.wide(dtype)), "keep", dtype)
    for index in (np.int32, np.int64):
        of = pieces.of_arguments(index, ("unknowns", "segments", "bounds", "first", "pieces", "places"))
        for function in (pieces.gather, pieces.combine):
            device.function(function, dtype, annotations=of)
        for sharing in (1, 8):
            of = pieces.of_arguments(index, ("sources", "places", "starts", "lengths"), 3)
            device.function(pieces.products, dtype, annotations=of, sharing=sharing)
            device.function(deflation.run_sums, dtype, annotations={"bounds": places_of(index)}, sharing=sharing)
            device.kernel(deflation.box_sums(sharing), "box_sums", dtype)
    for function in (phases.codes, phases.bits, phases.gather, phases.scatter):
        device.function(function, dtype)


def _of_small_matrices(device, columns, dtype):
    matrices = SmallMatrices(device, dtype, columns)
    for name in ("lengths", "ratios", "factor", "pivoted", "again", "norms", "own_norms"):
        matrices.kernel(small.small(name, columns, dtype, matrices.dtype), columns)
    for kept in (("rr", "gamma"), ("rr", "gamma", "delta", "going")):
        rooms = tuple(matrices.room(name, (columns,)) for name in kept)
        matrices.kernel(small.keep(columns, kept), columns, {"rows": rooms[0], "capacity": 1, "matrices": rooms})


def _of_nested_levels(device):
    """The setup of the levels of a coarse system, where the host reads ones."""
    for kind in (np.uint8, np.uint16, np.int32):
        device.numbered_parts(np.zeros((4, 4), kind), (4, 4), (2, 2))
    places = device.zeros(4, np.int32)
    *_, merge = device.merged_parts(device.zeros(5, np.int32), places, (2, 2))
    csr = device.zeros(4, np.float64), places, device.zeros(5, np.int64)
    for stored in (np.float64, np.float32):
        device.nested_levels(csr, [merge], 1, 1.8, lambda *_, stored=stored: stored == np.float32)
        device.function(nesting.shifted, stored)
    device.function(nesting.shift, np.float64)


def kernels(dtype):
    """The text of every kernel that there is, in all its forms."""
    for bands in (1, 2, 3):
        yield from _of_faces(bands, dtype)
    yield from _of_rows(dtype)
    yield printed(box_stencil.axis_sums, dtype)
    for reach in (1, 2, 8):
        yield from (printed(box_stencil.rows, dtype, reach=reach), box_stencil.columns(reach))
    yield from of_the_operators(dtype)
    yield from _of_block_vectors(dtype)
    yield products.LEVELS
    wide = LAYOUT.accumulator(dtype).itemsize
    yield from (Wavefront(rows, dtype.itemsize, wide, LAYOUT.group, cuda=True).text.text for rows in (5, 100))
    yield draw.draw("cuda")
    for module in (deflation,):
        yield from (value for value in vars(module).values() if isinstance(value, str) and value.startswith("KERNEL"))
    names = {"u", "t", "x", "k"}
    yield _body(BODY, names, names - {"u"}, dtype)
    vectors = {"d", "r", "s", "p", "u"}
    yield from (_body(text, vectors, vectors, dtype) for text in (chebyshev.FIRST, chebyshev.LATER + chebyshev.DOTS))
    lines = [line for line in parse(SCALARS) if isinstance(line, Formula)]
    texts = passes.PassTexts.of(infer(lines, ()), SLOTS, dtype, LAYOUT.accumulator(dtype))
    yield texts.finish(((0, 2), (1, 3)), tuple(lines)).text


def _body(text, vectors, persistent, dtype):
    """The loop of lines of one pass."""
    (step,) = plan(parse(text), vectors, persistent, {})
    assert isinstance(step, Pass)
    return passes.PassTexts.of(infer(parse(text), vectors), SLOTS, dtype, LAYOUT.accumulator(dtype)).body(step).text


def test_a_kernel_in_pieces_is_its_text():
    for bounded in kernels(np.dtype(float)):
        kernel = re.sub(r"BOUNDS\(.*?\) ", "", bounded)
        name = kernel.partition("KERNEL ")[2].partition("(")[0]
        assert KernelText.of(kernel, name).text == kernel


def needs_nvcc(test):
    """Mark a test that compiles for minutes, where there is a compiler."""
    there = pytest.mark.skipif(not NVCC, reason="nvcc, the CUDA compiler, is not on this machine")
    return pytest.mark.slow(there(test))


@needs_nvcc
@pytest.mark.parametrize("index", ["int32", "int64"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_nvcc_compiles_every_kernel(tmp_path, dtype, index):
    compile_together(kernels(np.dtype(dtype)), dtype, tmp_path, index)


@needs_nvcc
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "variable"])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_box_sweeps_that_are_launched_for_some_sweeps(tmp_path, dtype, constant):
    tile = tile_plan.tile_in_local_memory(LAYOUT, np.dtype(dtype).itemsize)
    texts = [box_sweeps.plain(constant=constant), box_sweeps.tiles(tile, constant=constant)]
    texts += [printed(box_sweeps.peaks, dtype)]
    for mixed in (True, False):
        of_r, of_z = (box_sweeps.outer(name, mixed=mixed) for name in ("r", "out"))
        texts += [printed(box_sweeps.begin, dtype, of_r, constant=constant, mixed=mixed)]
        texts += [printed(box_sweeps.end, dtype, of_z, mixed=mixed)]
    compile_together(texts, dtype, tmp_path)


@needs_nvcc
@pytest.mark.parametrize("constant", [True, False], ids=["constant", "variable"])
@pytest.mark.parametrize(("dtype", "side"), [("float32", 99), ("float32", 600), ("float64", 249)])
def test_nvcc_compiles_persistent_box_sweeps(tmp_path, dtype, side, constant):
    tile = tile_plan.persistent_tile([(side, side)], np.dtype(dtype).itemsize, 132, 1, 1000)
    assert tile is not None
    layout = dataclasses.replace(LAYOUT, group=tile.group)
    compile_with_nvcc(prelude(layout, np.dtype(dtype)) + box_sweeps.persistent(tile, constant=constant), tmp_path)


@needs_nvcc
@pytest.mark.parametrize("order", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_series_in_one_sweep(tmp_path, dtype, order):
    itemsize = np.dtype(dtype).itemsize
    for directions, summed in ((2, True), (3, False), (3, True)):
        tile = tile_plan.series_tile(LAYOUT, directions, order, itemsize)
        assert tile is not None
        head = prelude(dataclasses.replace(LAYOUT, group=tile.group), np.dtype(dtype))
        sweep = series.sweep(tile, LAYOUT, itemsize, summed=summed)
        of = {"steps": (int,) * directions}
        cells = printed(series.cells, dtype, of, directions=directions)
        compile_with_nvcc(head + cells + sweep.text, tmp_path)


@needs_nvcc
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_nvcc_compiles_every_form_of_fast_diagonalization(tmp_path, dtype):
    side = fast_diagonalization.SIDE
    texts = []
    for mixed, first, divides, last in itertools.product((True, False), repeat=4):
        form = {"mixed": mixed, "first": first, "last": last}
        of, shape = (
            fast_diagonalization.product_annotations(**form),
            {"side": side, "points": fast_diagonalization.EDGE // side},
        )
        texts.append(printed(fast_diagonalization.eigenvectors, dtype, of, **form, **shape, divides=divides))
    compile_together(texts, dtype, tmp_path)


def compile_together(kernels, dtype, tmp_path, index="int32"):
    """Each under a name of its own, with the functions that it calls."""
    text = prelude(LAYOUT, np.dtype(dtype), np.dtype(index))
    for number, kernel in enumerate(kernels):
        renamed = re.sub(r"KERNEL (BOUNDS\(.*?\) )?\w+", rf"\g<0>_{number}", kernel)
        text += f"namespace kernel_{number} {{\n{renamed}}}\n"
    compile_with_nvcc(text, tmp_path)


def compile_with_nvcc(text, tmp_path):
    source = Path(tmp_path) / "kernels.cu"
    source.write_text(text)
    command = [str(NVCC), "-cubin", "-arch=sm_90", "-Werror", "all-warnings", "-diag-suppress", "177"]
    done = subprocess.run(
        [*command, "-o", str(tmp_path / "kernels.cubin"), str(source)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr


@needs_nvcc
@pytest.mark.parametrize("cells", [(9, 7), (9, 7, 5)], ids=["2D", "3D"])
def test_nvcc_compiles_a_flow(tmp_path, cells, monkeypatch):
    class Falling(Keeping):
        """What a host reads are numbers that fall, so that iterations end."""

        value = 1.0

        def download(self, handle, values):
            values.fill(Falling.value if values.dtype.kind == "f" else 1)
            Falling.value *= 0.5

    monkeypatch.setattr(device_grid, "array_of", lambda cells: np.ones(cells.size))
    runtime = Falling()
    grid = device_grid.DeviceGrid(cells, 0.1, (True,) * len(cells), Accelerator(runtime))
    flow = TwoPhaseFlow(grid, Fluids((1.0, 1.0), (0.1, 0.1), 1.0, 1.0), np.ones(cells[::-1]))
    flow.begin()
    Falling.value = 1.0
    flow.redistance()
    measures.measured(flow)
    compile_together(runtime.texts, "float64", tmp_path)


class Recorder:
    """A runtime without a device: keeps what a program would launch."""

    name, title, layout, recording = "recorder", "no device", LAYOUT, True
    largest = memory = 2**60

    def __init__(self):
        self.launches = []

    def allocate(self, nbytes):
        return bytearray(1)

    def upload(self, handle, values):
        pass

    clear = upload

    def download(self, handle, values):
        values.fill(1)

    def pinned(self, nbytes):
        return np.empty(nbytes, np.uint8)

    def compile(self, prelude, kernel):
        return prelude, kernel

    def copy(self, *given, **more):
        pass

    def synchronize(self):
        pass

    def launch(self, function, groups, group, arguments, *, spread=False):
        self.launches.append(Launch(*function, groups, group, arguments, spread))


class Keeping(Recorder):
    """Keeps the texts of all kernels, too."""

    def __init__(self):
        super().__init__()
        self.texts = {}

    def compile(self, prelude, kernel):
        self.texts[dataclasses.replace(kernel, bounds=None).text] = None
        return super().compile(prelude, kernel)


def launches_of(preconditioner, dtype, n=12, solver="cg", *, as_csr=False):
    """What one iteration launches, and the scalars that it works on."""
    device = Accelerator(Recorder())
    operator = grid_stencil((n, n), dtype)
    operator = Matrix(operator.to_csr()) if as_csr else operator
    bound = registry.find("preconditioner", preconditioner).setup(operator, device)
    vectors = {name: device.zeros(n * n, np.dtype(dtype)) for name in "bx"}
    operators = {"A": device.csr(*parts(operator), 0) if as_csr else operator.bind(device), "M": bound}
    space = device.workspace(n * n, np.dtype(dtype), vectors=vectors, operators=operators)
    recurrence = registry.find("solver", solver).iterates(space)
    watch = device.watch(space, 8)
    watch.set_threshold("rr", 1e-3)
    next(recurrence)
    device.runtime.launches.clear()
    watch.advance(recurrence, 1)
    return device.runtime.launches, space.scalars.handle


def parts(operator):
    csr = operator.to_csr()
    return csr.data, csr.indices, csr.indptr


@needs_nvcc
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("preconditioner", ["none", "jacobi", "neumann:2", "chebyshev:1"])
def test_nvcc_compiles_an_iteration_as_one_kernel(tmp_path, preconditioner, dtype):
    launches, scalars = launches_of(preconditioner, dtype)
    assert fit_together(launches)
    text, arguments = source(launches, scalars, 68)
    assert all(argument is not scalars for argument in arguments)
    compile_with_nvcc(text, tmp_path)


@needs_nvcc
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_steps_take_turns_with_local_memory(tmp_path, dtype):
    """Together they would want more than a group may have."""
    launches, scalars = launches_of("neumann:2", dtype, solver="pipe-pr-cg", as_csr=True)
    assert fit_together(launches)
    compile_with_nvcc(source(launches, scalars, 68)[0], tmp_path)


@pytest.mark.parametrize(("dtype", "most"), [("float64", 21), ("complex64", 10)])
def test_a_step_with_more_local_memory_than_the_arena_stays_a_launch_of_its_own(dtype, most):
    """A sum takes 256 + 16 numbers of the accumulator, and the arena has 46 KiB."""

    def launch(sums):
        lines = parse("\n".join(f"g{k} = (x, x)" for k in range(sums)))
        (step,) = plan(lines, {"x"}, {"x"}, {})
        slots = {f"g{k}": k for k in range(sums)}
        kinds = np.dtype(dtype), LAYOUT.accumulator(np.dtype(dtype))
        text = passes.PassTexts.of(infer(lines, {"x"}), slots, *kinds).body(step)
        return Launch(prelude(LAYOUT, np.dtype(dtype)), text, 9, 256, (), True)

    assert shared_bytes(launch(most)) == most * (256 + 16) * np.dtype(LAYOUT.accumulator(np.dtype(dtype))).itemsize
    assert fit_together([launch(1), launch(most)])
    assert not fit_together([launch(1), launch(most + 1)])


def test_every_kernel_fits_the_arena():
    for kernel in kernels(np.dtype("complex128")):
        name = kernel.partition("KERNEL ")[2].partition("(")[0]
        text = KernelText.of(kernel, name)
        assert fit_together([Launch(prelude(LAYOUT, np.dtype("complex128")), text, 9, 256, (), True)])


def test_groups_meet_three_times_in_an_iteration_of_cg():
    """After (p, A p), after the sums over r and u, and before neighbours of p are read."""
    launches, scalars = launches_of("jacobi", "float64")
    names = [launch.kernel.name for launch, meet in zip(launches, barriers(launches, scalars), strict=True) if meet]
    assert names == ["finish", "finish", "keep"]


def test_groups_meet_before_a_step_that_overwrites_what_others_still_read():
    scalars, partial, x = bytearray(1), bytearray(1), bytearray(1)

    def launch(name, groups, *arguments):
        return Launch("", KernelText(name, "", "}", on_scalars=groups == 1), groups, 256, arguments, groups > 1)

    sums = launch("finish", 1, scalars, partial, np.int64(7))
    assert barriers([launch("body", 9, x, scalars, partial), sums], scalars) == [True, True]
    assert barriers([launch("body", 9, x, scalars), sums], scalars) == [False, True]
    assert barriers([launch("body", 9, x), launch("body", 9, x), sums, sums], scalars) == [False, True, True, False]


def test_sums_have_the_parts_that_a_cut_sweep_leaves():
    scalars, partial = bytearray(1), bytearray(1)

    def launch(name, groups, *arguments, spread=False):
        declaration = "GLOBAL W* a, GLOBAL W* b, const I64 c"
        kernel = KernelText(
            name, declaration, "}", on_scalars=name == "finish", partial_count=2 * (name == "finish") or None
        )
        return Launch("", kernel, groups, 256, arguments, spread)

    sweep = launch("body", 900, scalars, partial, np.int64(5), spread=True)
    corrected = launch("energy", 1, scalars, partial, np.int64(5))
    sums = launch("finish", 1, scalars, partial, np.int64(900))
    (line,) = (line for line in source([sweep, corrected, sums], scalars, 68)[0].splitlines() if "::finish" in line)
    assert "least(gridDim.x, 900)" in line
    (line,) = (line for line in source([corrected, sums], scalars, 68)[0].splitlines() if "::finish" in line)
    assert "least" not in line
