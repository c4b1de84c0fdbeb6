"""Positive (semi)definite matrices as programs of finite elements, finite volumes and graphs assemble them.

Every matrix follows from its size and a seed. None has a grid that a solver could use: they are rows of entries.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.spatial import Delaunay, KDTree

SEED = 7
FLAT = 1e-6
"""Cells below this share of the median volume are flat but for rounding, and left out."""


@dataclasses.dataclass(frozen=True, eq=False)
class System:
    """A x = b. matrix: symmetric, shape (N, N). b: shape (N,), in the range of A. modes: near null space, shape (N, m),
    or None. singular: A maps constants to zero. planar: factors have few entries, so that a direct solver fits. node:
    unknowns of a node, which come together."""

    matrix: sparse.csr_array
    b: np.ndarray
    modes: np.ndarray | None = None
    singular: bool = False
    planar: bool = False
    node: int = 1


def disk(unknowns: int, tensor: tuple[float, float] = (1.0, 1.0)) -> System:
    """Linear elements on a Delaunay mesh of random points of the unit disk, denser towards the centre, u = 0 on the
    circle. Unknowns are numbered at random. tensor: the coefficient in x and in y."""
    random = np.random.default_rng(SEED)
    radius, angle = random.random(unknowns) ** 0.75, 2 * np.pi * random.random(unknowns)
    circle = np.linspace(0, 2 * np.pi, int(2.5 * np.sqrt(unknowns)), endpoint=False)
    radii, angles = np.append(radius, np.ones(circle.size)), np.append(angle, circle)
    points = np.column_stack([radii * np.cos(angles), radii * np.sin(angles)])
    gradients, areas, cells = gradients_of(points, Delaunay(points).simplices)
    local = np.einsum("cid,cjd,c->cij", gradients * tensor, gradients, areas)
    matrix = assembled(local, cells, len(points))[:unknowns, :unknowns]
    return System(symmetric(matrix), random.standard_normal(unknowns), planar=True)


def l_shape(unknowns: int) -> System:
    """Quadratic elements on an L-shaped region, denser towards the reentrant corner, u = 0 on all sides.

    Of four unknowns one is a vertex and three are midpoints of edges; `unknowns` is met within some percent.
    """
    random = np.random.default_rng(SEED)
    count = unknowns // 4
    inner = random.uniform(-1, 1, (3 * count // 2, 2))
    inner = inner[~((inner[:, 0] > 0) & (inner[:, 1] < 0))]
    line = np.linspace(-1, 1, int(2 * np.sqrt(count)))
    sides = [np.column_stack([x, y]) for x, y in ((line, line * 0 + 1), (line, line * 0 - 1))]
    sides += [side[:, ::-1] for side in sides]
    half = line[line >= 0]
    sides += [np.column_stack([half, half * 0]), np.column_stack([half * 0, -half])]
    points = np.unique(np.concatenate([inner, *sides]), axis=0)
    points = points[~((points[:, 0] > 0) & (points[:, 1] < 0))]
    points = points * np.abs(points).max(axis=1, keepdims=True) ** 0.5
    cells = Delaunay(points).simplices
    centres = points[cells].mean(axis=1)
    gradients, areas, cells = gradients_of(points, cells[~((centres[:, 0] > 0) & (centres[:, 1] < 0))])
    edges = np.sort(cells[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, number, times = np.unique(edges, axis=0, return_inverse=True, return_counts=True)
    nodes = np.hstack([cells, len(points) + number.reshape(-1, 3)])
    local = np.zeros((len(cells), 6, 6))
    for corner in range(3):
        # The midpoints of the edges integrate quadratic functions exactly.
        weights = np.full(3, 0.5)
        weights[corner] = 0
        slopes = [(4 * weights[i] - 1) * gradients[:, i] for i in range(3)]
        ends = ((0, 1), (1, 2), (2, 0))
        slopes += [4 * (weights[i] * gradients[:, j] + weights[j] * gradients[:, i]) for i, j in ends]
        stacked = np.stack(slopes, axis=1)
        local += np.einsum("cid,cjd,c->cij", stacked, stacked, areas / 3)
    on_side = times == 1
    fixed = np.zeros(len(points) + len(edges), bool)
    fixed[edges[on_side]] = True
    fixed[len(points) :] = on_side
    # Vertices of cells that were left out belong to no equation.
    used = np.zeros(fixed.size, bool)
    used[nodes] = True
    free = np.flatnonzero(used & ~fixed)
    matrix = assembled(local, nodes, fixed.size)[free][:, free]
    return System(symmetric(matrix), random.standard_normal(free.size), planar=True)


def tetrahedra(unknowns: int) -> System:
    """Linear elements on a Delaunay mesh of random points of a cube, with slivers; the coefficient is a power of ten
    from 1 to 10^6 in each of 60 regions, and u = 0 near the sides."""
    random = np.random.default_rng(SEED)
    points = random.random((int(unknowns / 0.96**3), 3))
    gradients, volumes, cells = gradients_of(points, Delaunay(points).simplices)
    _, region = KDTree(random.random((60, 3))).query(points[cells].mean(axis=1))
    coefficient = 10.0 ** random.integers(0, 7, 60)[region]
    local = np.einsum("cid,cjd,c->cij", gradients, gradients, volumes * coefficient)
    free = np.flatnonzero((points.min(axis=1) > 0.02) & (points.max(axis=1) < 0.98))
    matrix = assembled(local, cells, len(points))[free][:, free]
    return System(symmetric(matrix), random.standard_normal(free.size))


def beam(unknowns: int) -> System:
    """Linear elasticity (Poisson's ratio 0.3) of a beam 6 x 1 x 1, clamped at one end, under its weight; six tetrahedra
    a brick. modes: the six rigid-body modes."""
    # 3 components of 6 n (n + 1)^2 nodes, for n bricks across.
    across = round((unknowns / 18) ** (1 / 3) - 2 / 3)
    sides = (6 * across + 1, across + 1, across + 1)
    axes = [np.linspace(0, length, count) for length, count in zip((6, 1, 1), sides, strict=True)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    numbers = np.arange(len(points)).reshape(sides)
    cells = []
    for order in itertools.permutations(range(3)):
        corner, path = [0, 0, 0], [(0, 0, 0)]
        for side in order:
            corner[side] = 1
            path.append((corner[0], corner[1], corner[2]))
        shifted = [
            numbers[tuple(slice(at, count - 1 + at) for at, count in zip(step, sides, strict=True))].ravel()
            for step in path
        ]
        cells.append(np.stack(shifted, axis=1))
    gradients, volumes, cells = gradients_of(points, np.concatenate(cells))
    lame, shear = 0.3 / (1.3 * 0.4), 1 / 2.6
    local = lame * np.einsum("cia,cjb->ciajb", gradients, gradients)
    local += shear * np.einsum("cib,cja->ciajb", gradients, gradients)
    both = shear * np.einsum("cid,cjd->cij", gradients, gradients)
    for side in range(3):
        local[:, :, side, :, side] += both
    local *= volumes[:, None, None, None, None]
    degrees = (3 * cells[:, :, None] + np.arange(3)).reshape(len(cells), 12)
    free = (3 * np.flatnonzero(points[:, 0] > 0)[:, None] + np.arange(3)).ravel()
    matrix = assembled(local.reshape(-1, 12, 12), degrees, 3 * len(points))[free][:, free]
    load = np.tile([0.0, 0.0, -1.0], len(points))
    return System(symmetric(matrix), load[free], rigid_body_modes(points)[free], node=3)


def beam_alone(unknowns: int) -> System:
    """The system of `beam`, whose near null space is not given."""
    return dataclasses.replace(beam(unknowns), modes=None)


def rigid_body_modes(points: np.ndarray) -> np.ndarray:
    """Three translations and three rotations of points, shape (3 n, 6), the components of a point together."""
    modes = np.zeros((len(points), 3, 6))
    for side in range(3):
        modes[:, side, side] = 1
        after, last = (side + 1) % 3, (side + 2) % 3
        modes[:, after, 3 + side], modes[:, last, 3 + side] = -points[:, last], points[:, after]
    return modes.reshape(-1, 6)


def pores(unknowns: int) -> System:
    """Flow through a network of pores: a cubic lattice with 15% of its throats closed, conductances proportional to the
    fourth power of lognormal radii, pressure 1 on one side and 0 on the other."""
    random = np.random.default_rng(SEED)
    side = round(unknowns ** (1 / 3))
    numbers = np.arange(side**3).reshape(side, side, side)
    pairs = np.concatenate([neighbours(numbers, axis) for axis in range(3)])
    pairs = pairs[random.random(len(pairs)) > 0.15]
    laplacian = laplacian_of(side**3, pairs, np.exp(4 * 0.4 * random.standard_normal(len(pairs))))
    ends = np.exp(1.6 * random.standard_normal((2, side, side)))
    added = np.zeros((side, side, side))
    added[0], added[-1] = ends[0], added[-1] + ends[1]
    b = np.zeros((side, side, side))
    b[0] = ends[0]
    matrix = laplacian + sparse.diags_array(added.ravel())
    # Pores that no throat connects with a side have no pressure.
    _, component = connected_components(laplacian, directed=False)
    reached = np.isin(component, component[np.flatnonzero(added.ravel())])
    free = np.flatnonzero(reached)
    return System(symmetric(sparse.csr_array(matrix)[free][:, free]), b.ravel()[free])


def geometric_graph(unknowns: int) -> System:
    """The Laplacian of random points of a square, each coupled with those within a radius, 25 on average; singular."""
    random = np.random.default_rng(SEED)
    points = random.random((unknowns, 2))
    pairs = KDTree(points).query_pairs(np.sqrt(25 / (np.pi * unknowns)), output_type="ndarray")
    return graph(laplacian_of(unknowns, pairs, np.ones(len(pairs))), random)


def social_graph(unknowns: int, friends: int = 5) -> System:
    """The Laplacian of a graph in which every new node chooses `friends` earlier ones with a probability proportional
    to their degree; singular. Source: preferential attachment, Barabási and Albert 1999."""
    random = np.random.default_rng(SEED)
    ends = np.empty(2 * friends * unknowns, np.int64)
    ends[: 2 * friends] = np.repeat([0, 1], friends)
    picks = random.random((unknowns, friends))
    for node in range(2, unknowns):
        first = 2 * friends * (node - 1)
        chosen = ends[(picks[node] * first).astype(np.int64)]
        ends[first : first + friends], ends[first + friends : first + 2 * friends] = node, chosen
    pairs = ends[: 2 * friends * (unknowns - 1)].reshape(-1, 2, friends).transpose(0, 2, 1).reshape(-1, 2)
    return graph(laplacian_of(unknowns, pairs, np.ones(len(pairs))), random)


def resistivity(unknowns: int) -> System:
    """Direct-current resistivity of the ground: cells that grow away from the electrodes, conductivity 10^-2 with two
    bodies of 1 and 10^-4 and lognormal scatter, no current through the surface, potential 0 far away."""
    random = np.random.default_rng(SEED)
    side = round((unknowns * 1.6) ** (1 / 3))
    deep = round(unknowns / side**2)
    far = side // 4
    growing = 1.3 ** np.arange(1, far + 1)
    across = np.concatenate([growing[::-1], np.ones(side - 2 * far), growing])
    down = np.concatenate([np.ones(deep - far), growing])
    conductivity = 0.01 * np.exp(0.5 * random.standard_normal((deep, side, side)))
    middle = side // 2
    conductivity[2 : deep // 3, middle - 4 : middle, middle - 6 : middle + 2] = 1
    conductivity[1 : deep // 4, middle + 2 : middle + 8, middle - 3 : middle + 5] = 1e-4
    matrix = two_point([down, across, across], [conductivity] * 3, {(0, 1), (1, 0), (1, 1), (2, 0), (2, 1)})
    b = np.zeros(conductivity.shape)
    apart = min(5, far)
    b[0, middle, middle - apart], b[0, middle, middle + apart] = 1, -1
    return System(symmetric(matrix), b.ravel())


def anisotropic(unknowns: int) -> System:
    """Five-point differences with coefficient 1 along x and 10^-3 along y, u = 0 on all sides, numbered at random."""
    random = np.random.default_rng(SEED)
    side = round(unknowns**0.5)
    ones = np.ones((side, side))
    matrix = two_point([np.ones(side)] * 2, [1e-3 * ones, ones], {(0, 0), (0, 1), (1, 0), (1, 1)})
    order = random.permutation(side**2)
    return System(symmetric(matrix[order][:, order]), random.standard_normal(side**2), planar=True)


def reservoir(unknowns: int) -> System:
    """A box of flat cells in layers, permeability lognormal within a layer and correlated over eight cells, a tenth of
    it vertically, layers of four orders of magnitude; pressure 0 at one side, no flow through the others."""
    from scipy.ndimage import gaussian_filter

    random = np.random.default_rng(SEED)
    side = round(unknowns ** (1 / 3))
    layers = 10.0 ** random.uniform(-2, 2, side)
    field = np.stack([gaussian_filter(random.standard_normal((side, side)), 4, mode="wrap") for _ in range(side)])
    horizontal = layers[:, None, None] * np.exp(2 * field / field.std())
    spacings = [np.full(side, 0.1), np.ones(side), np.ones(side)]
    matrix = two_point(spacings, [0.1 * horizontal, horizontal, horizontal], {(2, 0)})
    return System(symmetric(matrix), random.standard_normal(side**3))


@dataclasses.dataclass(frozen=True)
class Case:
    """A matrix by name. size, quick: its unknowns, about, and those of a quick run."""

    name: str
    make: Callable[[int], System]
    size: int
    quick: int = 2000


CASES = (
    Case("disk 130,000", disk, 130_000),
    Case("disk 523,000", disk, 523_000),
    Case("L-shape, quadratic", l_shape, 200_000),
    Case("tetrahedra 60,000", tetrahedra, 60_000),
    Case("tetrahedra 400,000", tetrahedra, 400_000, 3000),
    Case("beam", beam_alone, 83_000),
    Case("beam, modes", beam, 83_000),
    Case("pore network 27,000", pores, 27_000),
    Case("pore network 216,000", pores, 216_000, 3000),
    Case("geometric graph", geometric_graph, 60_000),
    Case("social graph", social_graph, 100_000),
    Case("resistivity", resistivity, 160_000, 4000),
    Case("anisotropic, mesh lines", anisotropic, 130_000),
    Case("anisotropic, disk", lambda unknowns: disk(unknowns, (1.0, 1e-3)), 130_000),
    Case("reservoir", reservoir, 1_000_000),
)
GROWTH = tuple(Case(f"growth, disk {size:,}", disk, size, size // 200) for size in (130_000, 500_000, 2_000_000))
"""One problem in three sizes, to see how its iterations grow."""


def gradients_of(points: np.ndarray, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of the linear basis functions, shape (cells, d + 1, d), volumes, and the cells that are not flat."""
    corners = points[cells]
    sides = corners[:, 1:] - corners[:, :1]
    volumes = np.abs(np.linalg.det(sides)) / (2 if points.shape[1] == 2 else 6)
    kept = volumes > FLAT * np.median(volumes)
    inverse = np.linalg.inv(sides[kept]).transpose(0, 2, 1)
    return np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1), volumes[kept], cells[kept]


def assembled(local: np.ndarray, nodes: np.ndarray, size: int) -> sparse.csr_array:
    """The sum of local matrices, shape (cells, k, k), at the nodes of each cell, shape (cells, k)."""
    k = nodes.shape[1]
    places = np.repeat(nodes, k, axis=1).ravel(), np.tile(nodes, (1, k)).ravel()
    return sparse.csr_array(sparse.coo_array((local.ravel(), places), shape=(size, size)))


def symmetric(matrix: sparse.csr_array) -> sparse.csr_array:
    """The matrix without rounding errors that differ between its triangles, in canonical form."""
    found = sparse.csr_array((matrix + matrix.T) / 2)
    found.eliminate_zeros()
    found.sort_indices()
    return found


def laplacian_of(size: int, pairs: np.ndarray, weights: np.ndarray) -> sparse.csr_array:
    """The Laplacian of a graph with weighted edges; edges that occur twice add up."""
    one, other = pairs.T
    couplings = sparse.csr_array(sparse.coo_array((weights, (one, other)), shape=(size, size)))
    couplings = couplings + couplings.T
    return sparse.csr_array(sparse.diags_array(couplings.sum(axis=1)) - couplings)


def neighbours(numbers: np.ndarray, axis: int) -> np.ndarray:
    """Pairs of cells next to each other along an axis of a box, shape (pairs, 2). numbers: of the cells."""
    return np.column_stack([numbers.take(range(k, numbers.shape[axis] - 1 + k), axis).ravel() for k in (0, 1)])


def graph(laplacian: sparse.csr_array, random: np.random.Generator) -> System:
    """The system of the largest component of a graph, with a right-hand side of mean zero."""
    _, component = connected_components(laplacian, directed=False)
    kept = np.flatnonzero(component == np.bincount(component).argmax())
    b = random.standard_normal(kept.size)
    return System(symmetric(laplacian[kept][:, kept]), b - b.mean(), singular=True)


def two_point(
    spacings: list[np.ndarray], coefficients: list[np.ndarray], fixed: set[tuple[int, int]]
) -> sparse.csr_array:
    """Finite volumes on a box, slowest side first: the flux between two cells by the harmonic mean of coefficients.

    fixed: sides with value 0, as (axis, 0 or 1); no flux through the others.
    """
    shape = coefficients[0].shape
    numbers = np.arange(np.prod(shape)).reshape(shape)
    widths = np.meshgrid(*spacings, indexing="ij")
    volume = np.prod(widths, axis=0)
    diagonal = np.zeros(shape)
    pairs, weights = [], []
    for axis, (width, coefficient) in enumerate(zip(widths, coefficients, strict=True)):
        # Half of a cell, as conductance: area times coefficient over half its width.
        half = volume / width * coefficient / (width / 2)
        low, high = (half.take(range(k, shape[axis] - 1 + k), axis) for k in (0, 1))
        weights.append((low * high / (low + high)).ravel())
        pairs.append(neighbours(numbers, axis))
        for end in (0, 1):
            if (axis, end) in fixed:
                place = tuple(slice(None) if a != axis else -end for a in range(len(shape)))
                diagonal[place] += half[place]
    laplacian = laplacian_of(numbers.size, np.concatenate(pairs), np.concatenate(weights))
    return sparse.csr_array(laplacian + sparse.diags_array(diagonal.ravel()))
