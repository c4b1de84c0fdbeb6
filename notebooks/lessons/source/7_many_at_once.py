# %% [markdown]
# # Many at once
#
# What do more right-hand sides and more preconditioners bring? 45 minutes.

# %%
from workbench.live import Lesson, MethodView, PaperView, RaceView, StepView
from workbench.live.plots.chart import ChartView
from workbench.run import Session, configure

# %%
from workbench.plots.scenes import comparison_scenes
lesson = Lesson("many-at-once")

# %% [markdown]
# ## Block CG
#
# $AX = B$ with $s$ columns. CG of each column searches its own Krylov space; block CG gives all columns the sum of
# these spaces. Let the columns of $P$ span the new directions. The step $X + P\alpha$ that minimizes the $A$-norm of
# the error of every column makes $R - AP\alpha$ orthogonal to $P$:
#
# $$P^TAP\,\alpha = P^TR, \qquad Z = M^{-1}R, \qquad P \leftarrow Z + P\beta, \qquad P^TAP\,\beta = -(AP)^TZ .$$
#
# The scalars of CG have become $s \times s$ matrices. Step through it: Right and Left are lines, Down and Up
# iterations.

# %%
StepView("block-cg-oleary", "poisson5", n=16, rhs="random:4")

# %% [markdown]
# ## Rank
#
# $P^TAP$ can be inverted only if the columns of $P$ are independent. Where columns of $B$ depend on one another, they
# are not, and the block must shrink; `block-cg` (Dubrulle 2001) keeps the columns of its blocks orthonormal and drops
# what depends on others. Eight columns below are combinations of four: turn to *Rank and pivots*.

# %%
dependent = Session(configure("poisson5", n=32, solver="block-cg", rhs="rank4:8"))
dependent.start()
MethodView(dependent)

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 3)

# %% [markdown] tags=["solution"]
# Six columns span a space of dimension three; its directions depend on that space only.

# %% [markdown]
# ## What a block finds together
#
# O'Leary (1980) bounds the error of block CG as that of CG, with another condition number,
#
# $$\kappa_s = \lambda_{\max} / \lambda_s , \qquad 0 < \lambda_1 \le \lambda_2 \le \dots \text{ of } M^{-1}A :$$
#
# with $s$ directions in each iteration one can be spent on each of the $s - 1$ smallest eigenvalues. Bubbles have
# some tiny ones ([deflation](5_deflation.ipynb)). Below, blocks of 1, 2, 4 and 8 random columns for four bubbles, by
# iterations, and by columns that were multiplied by $A$: a block needs fewer iterations, and more products than one
# column alone.

# %%
blocks = [configure("bubbles-2d", n=24, solver="block-cg", rhs=f"random:{s}") for s in (1, 2, 4, 8)]
runs = {f"s = {s}": Session(block).wait(60).record() for s, block in zip((1, 2, 4, 8), blocks, strict=True)}
iterations, products = comparison_scenes(runs, tolerance=1e-6)

# %%
ChartView(scene=iterations)

# %%
ChartView(scene=products)

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, 4)

# %% [markdown] tags=["solution"]
# Three positive eigenvalues are tiny, so $s - 1 = 3$. It is a bound: iterations fall step by step, and fall further.

# %% [markdown]
# ## Several preconditioners
#
# With one right-hand side and $k$ preconditioners $S_i$, multipreconditioned CG searches along all
# $S_1 r, \dots, S_k r$ at once. Here $S_i$ solves in box $i$ of the grid. Its rival, `sum-cg`, is CG with
# $M^{-1} = S_1 + \dots + S_k$: all weights are one, where `mpcg` chooses the best ones in each iteration. The price:
# a new block must be made $A$-orthogonal to all before, because the short recurrence of CG is lost. Turn to *Weights
# of terms* and move the slider; then race both.

# %%
layers = Session(configure("two-layer", n=48, solver="mpcg", preconditioner="schwarz:3x3,overlap=2"))
layers.start()
MethodView(layers)

# %%
boxes = "schwarz:3x3,overlap=2"
RaceView(*(configure("two-layer", n=48, solver=each, preconditioner=boxes) for each in ("mpcg", "sum-cg")))

# %% [markdown]
# Chen (2022) measures this on a GPU; rings are printed times. Turn the overlap.

# %%
PaperView("mpcg", "table3")

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, "schwarz:4x4,overlap=0")

# %% [markdown]
# **What to try next.** `StepView("mpcg", "poisson5", n=16, preconditioner="schwarz:2x2")`. `mpcg:keep=1` makes a
# block orthogonal to the last one only: how many iterations does that cost? `rhs="near:8"`, columns that nearly
# depend on one another, with `block-cg` and `bf-block-cg`. `rhs="phases"`: one column per bubble. The notebooks
# 09_block_cg and 10_multipreconditioned_cg have more of both, with what they cost.
