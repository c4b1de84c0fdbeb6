# %% [markdown]
# # Preconditioning
#
# *Lesson 4, 45 minutes.* **When do more, cheaper iterations win?**
#
# You need the steps of CG ([lesson 1](1_without_pain.ipynb)), the CG bound and what a small eigenvalue costs
# ([lesson 2](2_polynomials.ipynb)), and what a Cholesky factorization is. A preconditioner is written as `neumann:2`;
# races name it Neumann 2.

# %%
import numpy as np
from workbench.spectra import preconditioned, spectrum
from workbench.live import Lesson, RaceView, SpectrumView

# %%
from workbench.live.plots.chart import ChartView
from workbench.run import Session, configure
from workbench.plots.scenes import levels_scene, vectors_scene

# %%
lesson = Lesson("preconditioning")

# %% [markdown]
# ## 1. What M changes
#
# Let $M = CC^T$ be symmetric and positive definite. CG on $C^{-1}AC^{-T}\hat x = C^{-1}b$ with $x = C^{-T}\hat x$
# needs neither $C$ nor its inverse: write it in $x$, and what is left of them is $u = M^{-1}r$, once in an iteration.
# The eigenvalues that count are those of $M^{-1}A$, since $C^{-1}AC^{-T}$ has the same. With
# $\kappa = \lambda_{\max} / \lambda_{\min}$ of these
#
# $$\|e_k\|_A \le 2\left(\frac{\sqrt\kappa - 1}{\sqrt\kappa + 1}\right)^k \|e_0\|_A .$$
#
# Two fluid layers on 24 × 24 cells, the upper one a thousand times as dense: the rows of $A$ differ by that factor.
# Jacobi, $M = D = \operatorname{diag}(A)$, removes it. Move the slider.
#
# - **Top:** the Ritz values reach the ends of the spectrum of $M^{-1}A$. Their ratio, the effective condition number,
#   is never above $\kappa$.
# - **Middle:** the A-norm of the error is between two bounds, found from the $\alpha$ and $\beta$ of CG four iterations
#   later; the upper one also needs a number just below $\lambda_{\min}$. It is soon far below the CG bound, which
#   hardly falls with the $\kappa$ of $A$.
# - **Bottom:** the eigenvalues of $A$ and of $M^{-1}A$. Compare their $\kappa$.

# %%
facts = SpectrumView(Session(configure("two-layer", n=24)).wait(60))
facts.delay.layout.display = "none"
facts

# %% [markdown]
# ## 2. From Gauss-Seidel to the Neumann series
#
# Let $L$ be the strictly lower triangle: $A = D + L + L^T$. Symmetric Gauss-Seidel takes
# $M = (D + L)\,D^{-1}(D + L^T)$, the product of two triangles, which differs from $A$ by $L D^{-1} L^T$ only. A
# triangle is solved row after row, each waiting for the one before. Its inverse is also a sum of powers of $LD^{-1}$,
# and a product with $LD^{-1}$ computes all rows at once:
#
# $$(D + L)^{-1} = D^{-1}(I + LD^{-1})^{-1} = D^{-1}\sum_{k \ge 0} (-LD^{-1})^k ,$$
#
# and with its first terms, $K = \sum_{k \le m} (-LD^{-1})^k$, we get $M^{-1} = K^T D^{-1} K$: `neumann:m`, positive
# definite whatever $m$. *Incomplete Cholesky* keeps the triangles and chooses them better: $M = \tilde L \tilde L^T$
# equals $A$ where $A$ has entries, and $\tilde L$ has entries nowhere else (`ic`). `block-ic`
# first drops the entries between blocks of eight grid rows, so that blocks need not wait for one another.
#
# The picture shows $M^{-1}\delta$ for a source $\delta$ at one point, over its largest value, for the 5-point stencil
# on 24 × 24 cells: how far one application carries what a residual says. The darkest cells are at a thousandth of it
# or below.

# %%
names = ("jacobi", "neumann:1", "neumann:2", "neumann:3", "block-ic", "ic")
source = [preconditioned(configure("poisson5", n=24, preconditioner=name), np.eye(576)[300]) for name in names]
ChartView(scene=vectors_scene(np.transpose(source), (24, 24), names, bar="M⁻¹δ / max", log=True), height=460)

# %% [markdown]
# ## 3. Condition numbers
#
# The spectra of $M^{-1}A$ for the two layers on 24 × 24 cells. The further $M^{-1}$ reaches, the smaller $\kappa$ is:
# mainly the small eigenvalues move.

# %%
found = {name: spectrum(configure("two-layer", n=24, preconditioner=name)) for name in names}
ChartView(scene=levels_scene(found, deflates=False))

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 2.34)

# %% [markdown] tags=["solution"]
# For large $\kappa$ the bound is at $\varepsilon$ times its start after about $\tfrac12\sqrt\kappa\,\ln(2/\varepsilon)$
# iterations, so that it falls with the root of the ratio of condition numbers.

# %% [markdown]
# ## 4. Cost
#
# On grids that are larger than the caches CG is limited by memory: what an iteration costs is first of all the bytes
# that it reads and writes. Press **Start**, then set the x-axis to bytes. On this grid the iterations of the three
# orders of Neumann move the same bytes, because their terms run in one pass over memory; they differ in arithmetic. The
# triangles of `ic` and `block-ic` must be read.

# %%
race = RaceView(*(configure("two-layer", n=128, preconditioner=name) for name in names))
race.look.change(measure="iterations", with_setup=False)
race

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, "neumann:3")

# %% [markdown] tags=["solution"]
# Incomplete Cholesky takes the fewest iterations and is not the cheapest: its iterations move more bytes, by a larger
# factor than that by which they are fewer. More iterations win.

# %% [markdown]
# ## 5. Time
#
# Bytes can be counted, time must be measured, and it depends on the machine: on triangular solves that wait for one row
# after the other, and on small solves that do not fill the cores. The extreme is a method that solves large parts of
# the problem exactly in every iteration. Additive Schwarz, $M^{-1} = \sum_i R_i^T A_i^{-1} R_i$, takes the residual in
# each of several boxes by $R_i$, solves with $A_i = R_i A R_i^T$, and adds up. `schwarz:3x3,overlap=4` has $3\times 3$
# boxes that reach 4 cells into their neighbours.
#
# Set the x-axis to bytes and to seconds. The boxes move fewer bytes: is their time less too? (Press *Start again* to
# see how far times differ from run to run.)

# %%
race = RaceView(*(configure("two-layer", n=48, preconditioner=M) for M in ("jacobi", "schwarz:3x3,overlap=4")))
race.look.change(measure="iterations", with_setup=False)
race

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 9.25)

# %% [markdown] tags=["solution"]
# The ratio of the iterations is the factor by which an iteration may take longer. Read both from the race. That Jacobi
# wins is true of this size, here and now; a larger problem, a GPU or a cluster may decide otherwise.

# %% [markdown]
# ## What you have learned
#
# - CG with $M$ converges as CG does on the eigenvalues of $M^{-1}A$; $M$ is needed only as $u = M^{-1}r$.
# - The iterations that the CG bound promises fall with the **root** of the ratio of condition numbers; those of a run
#   often fall less (in the race by 1.9 with `neumann:2`).
# - More, cheaper iterations win if one is cheaper by a larger factor than that by which they are more.
# - Bytes of an iteration can be counted. Its time must be measured on the machine that is meant: with few bytes it may
#   still be long.
#
# **Next steps** in the workbench; [lesson 5](5_deflation.ipynb) removes a few small eigenvalues that all of these
# leave:

# %%
lesson.next_steps()
