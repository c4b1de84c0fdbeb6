# %% [markdown]
# # Rounding
#
# **What does CG lose in floating-point arithmetic, and which residual decides?** 45 minutes. You need [lesson
# 2](2_polynomials.ipynb).

# %%
from workbench.extensions.lessons.rounding import precision_scene
from workbench.live import Lesson, PolynomialView, Stepper
from workbench.live.plots.chart import ChartView

# %%
lesson = Lesson("rounding")

# %% [markdown]
# ## CG is late
#
# Without rounding errors CG ends after as many iterations as there are distinct eigenvalues. This spectrum has 24, most
# of them close together at the lower end. The picture at the right has three curves: CG without rounding errors, and CG
# as it is computed in double and in single precision.

# %%
PolynomialView("dense below, as of Strakoš", iteration=10, size=24, rounding=True)

# %% [markdown]
# For the first iterations the curves are one. Then the rounded ones fall behind. When the smallest and largest Ritz
# values have converged, rounding brings back parts of $r$ along their eigenvectors, and CG finds these eigenvalues
# **again**: it behaves as exact CG for a matrix that has a tiny cluster around each eigenvalue (Greenbaum 1989). Each
# copy costs a zero of $p_k$, so an iteration.
#
# Drag the largest eigenvalues together: which spectra are late, and which are not?

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 11)

# %% [markdown] tags=["solution"]
# The sentence below the picture has both numbers. No tolerance and no stopping test brings these iterations back;
# making each residual orthogonal to all before it would, for the price of keeping them all.

# %% [markdown]
# ## Orthogonality is lost
#
# The residuals of CG are orthogonal, $(r_i, r_j) = 0$, with a preconditioner $(r_i, u_j) = 0$ for $u = M^{-1} r$. But
# CG makes $r_k$ orthogonal to the last ones only; that it is orthogonal to all others follows, without rounding errors.
# Below are CG and pipelined CG, line by line, with the iterations that the slider chooses.

# %%
Stepper("cg", "pipecg", "two-layer:16", iterations=140)

# %% [markdown]
# The maps at the end show $|(r_i, u_j)|$, scaled to 1 on the diagonal. Dark is orthogonal, bright off the diagonal is a
# loss, and the dashed lines stand at the iteration of the slider. Which of the two methods loses it first, and where is
# its residual then?
#
# ## The residual gap
#
# CG computes $x_{k+1} = x_k + \alpha_k p_k + \xi_k$ and $r_{k+1} = r_k - \alpha_k A p_k + \eta_k$ with rounding errors
# $\xi_k$ and $\eta_k$. However wrong $\alpha_k$ is, it cancels in the difference:
#
# $$(b - A x_k) - r_k = -\sum_{j<k} (A \xi_j + \eta_j).$$
#
# These errors stay. $r_k$ continues to fall, while $b - A x_k$ rests where the sum is: the **attainable accuracy**,
# about the precision times $\|A\|$ times the largest $\|x_j\|$ (Greenbaum 1997). Pipelined CG makes even $A u$ by a
# recurrence, whose own errors grow on the way. In the curves $\|r\|$ is a line, and $\|b - A x\|$ is dotted with marks.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, "pipecg")

# %% [markdown] tags=["solution"]
# `pipecg-rr` is the same method, but it replaces $r$ by $b - A x$ and the vectors that follow from it now and then. The
# others apply $A$ to $u$ itself in each iteration.

# %% [markdown]
# ## Single precision, and the residual that decides
#
# Both runs solve Poisson's equation on 32 × 32 unknowns to a tolerance of $10^{-8}$. Rings are the true
# residuals $\|b - A x\| / \|b\|$.

# %%
ChartView(scene=precision_scene(1e-8))

# %% [markdown]
# In single precision the curve of $r$ meets the tolerance. A program that believes it returns an $x$ whose residual is
# far larger than it says. So whenever $r$ meets the tolerance, the workbench computes $b - A x$; where that does not
# meet it, CG starts again from this $x$, and after some restarts without success the run ends as *not converged*. One
# product with $A$ is the price of a number that one can trust.

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 5)

# %% [markdown] tags=["solution"]
# Single precision has about seven digits, and the condition number of $A$ takes some of them.

# %% [markdown]
# **What to try next.**
#
# - `Stepper("pipecg", "pipecg-rr", "two-layer:16", iterations=140)`: what does the replacement do to the map?
# - `precision_scene(1e-8, 64)`: which tolerance does single precision meet on 64 × 64 unknowns?
# - [Lesson 2](2_polynomials.ipynb) again, with **rounding** ticked: deflate the largest eigenvalue of the spectrum
#   above.
