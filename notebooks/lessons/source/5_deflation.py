# %% [markdown]
# # Deflation
#
# Why do bubbles slow CG down, and which vectors help? 45 minutes.

# %%
from workbench.spectra import eigenvectors
from workbench.extensions.lessons.deflation import risen
from workbench.live import BubbleBuilder, Lesson, RaceView, SpectrumView

# %%
from workbench.live.plots.chart import ChartView
from workbench.run import Session, configure, prepare
from workbench.plots.scenes import vectors_scene

# %% [markdown]
# ## Bubbles
#
# Pressure in a bubbly flow solves $-\nabla\cdot\left(\frac1\rho\nabla p\right) = f$; $\rho$ is 1 in a bubble and 1000
# around it. Click on free space to add a bubble, drag it or its rim, press Delete to remove it.

# %%
lesson = Lesson("deflation")
builder = BubbleBuilder(configure("bubbles-2d", layout="random", count=7, geometry_seed=1).problem)
builder

# %% [markdown]
# ## One small eigenvalue per bubble
#
# Let $v$ be 1 in the cells of a bubble and 0 elsewhere. $v^TAv$ sums the coefficients of the faces at its rim, which
# are of the order of a thousandth, because one of the two cells is heavy; $v^TDv$ sums the diagonal in the bubble,
# four faces for each cell, with coefficient 1. So the Rayleigh quotient
#
# $$\frac{v^TAv}{v^TDv}\ \sim\ \frac1{1000} \cdot \frac{\text{faces of the rim}}{4 \cdot \text{cells}}$$
#
# is tiny. $k$ bubbles give $k$ such vectors, and by Courant and Fischer at least $k$ eigenvalues of $D^{-1}A$ are no
# larger than the largest quotient on their span. The fluid between them has a small coefficient in both sums, and
# gives none. With walls on all sides a constant costs nothing: one of the $k$ is zero, up to rounding, and does no
# harm. Bubbles that touch, cell to cell, count as one.
#
# Below, the nine smallest eigenvalues of your problem on $24 \times 24$ cells, with their eigenvectors. Move two
# bubbles together, and watch.

# %%
def picture(builder):
    values, vectors = eigenvectors(configure(builder.problem, n=24), 9)
    return vectors_scene(vectors, (24, 24), [f"λ = {value:.2g}" for value in values])

# %%
chart = ChartView(scene=picture(builder), height=560)
builder.on_change(lambda builder: chart.show(picture(builder)))
chart

# %% [markdown]
# CG has to find each of them before it converges. Move the slider: which of the exact eigenvalues, at the right, have
# a Ritz value at the end of each plateau of the error?

# %%
SpectrumView(Session(configure(builder.problem, n=24)).wait(60))

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 4)

# %% [markdown] tags=["solution"]
# Five bubbles, and one combination of them is the constant vector, up to what the fluid adds: its eigenvalue is zero.
# With one open side (`sides="y+:dirichlet"`) all five are positive.

# %% [markdown]
# ## Deflation
#
# Collect vectors that span, nearly, those eigenvectors as the columns of $Z$, and let
#
# $$E = Z^TAZ, \qquad P = I - AZE^{-1}Z^T .$$
#
# Then $PAZ = AZ - AZE^{-1}(Z^TAZ) = 0$: on the span of $Z$ the matrix $PA$ is zero, it is symmetric, and CG on
# $PA\hat x = Pb$ never sees those directions. They are solved for directly: $x = ZE^{-1}Z^Tb + P^T\hat x$. With walls
# on all sides constants lie in the span of $Z$, so that $E$ is singular: one vector is left out. `levelset:0` takes
# one vector per bubble and one for the fluid. In the lowest picture tiny eigenvalues have become zeros.

# %%
SpectrumView(Session(configure(builder.problem, n=24, deflation="levelset:0")).wait(60))

# %% [markdown]
# ## Which vectors?
#
# All of these are 1 on a part of the grid and 0 elsewhere. `stripes` cut each grid row in two, `blocks:k` are
# $k \times k$ squares, and `levelset:k` cuts these once more where they meet a bubble. Choose them below the drawing
# of the bubbles to see their parts. The race is on your bubbles; press **Start**. A stripe through a bubble cannot
# represent a constant in that bubble alone.

# %%
spaces = ("none", "stripes", "blocks:4", "levelset:0", "levelset:4", "levelset:8")
RaceView(*(configure(builder.problem, n=64, deflation=space) for space in spaces))

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
# One vector per bubble and one for the fluid, ten in all, are nearly the eigenvectors. levelset:2 has 16 and needs
# fewer iterations still. Sixteen squares cut the bubbles and do worse than the stripes.
lesson.check(2, "levelset:0")

# %% [markdown]
# ## How many vectors pay?
#
# Each further part saves iterations, because it also takes over some of the slow, smooth error. Each costs: with $d$
# vectors and a dense inverse, every iteration reads $d^2$ numbers of $E^{-1}$. Turn the x-axis to bytes.

# %%
parts = [f"levelset:{k}" for k in (2, 4, 8, 16, 24)]
RaceView(*(configure(builder.problem, n=64, deflation=part, coarse="inverse") for part in parts))

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, "levelset:8")

# %% [markdown]
# ## Bubbles that move
#
# In a time step bubbles move by a cell or two. A vector that is 1 where a bubble *was* is then 1 in some cells of heavy
# fluid and 0 in some of the bubble: some faces in $v^TAv$ have coefficient 1, no longer 1/1000, and the quotient is a
# thousand times as large. The last pressure, as a start, is wrong in the same cells, by its jump at the interface, and
# so in the directions that CG finds last: it is no better than zero. `workbench flow` renews $Z$ wherever cells change,
# and continues the last pressure from neighbours of the new phase. Here five bubbles rise by one cell:

# %%
system, was, last = risen()
moved = prepare(system, M="neumann:2", deflation="levelset:4")
{f"iterations from {name}": moved.solve(system.b, x).iterations for name, x in {"zero": None, "last": last}.items()}

# %% tags=["exercise"]
lesson.check(4)

# %% tags=["solution"]
print(prepare(system, M="neumann:2", deflation=was).solve(system.b).iterations)
lesson.check(4, 136)

# %% [markdown]
# **What to try next.** The last race with `coarse="sparse"`: $E$ couples neighbouring parts only, and more vectors
# pay. Density ratios of $10^{-6}$ and 1, which leaves no bubbles, by the form under the drawing: which entries of the
# races depend on it? `deflation="ritz:8"` takes its vectors from an earlier run. Block CG finds tiny eigenvalues
# together: [many at once](7_many_at_once.ipynb).
