# %% [markdown]
# # Rounding
#
# *Lesson 3, 45 minutes.* **What does CG lose in floating-point arithmetic, and which residual decides?**
#
# You need the steps of CG (lesson 1), and residual polynomials with their zeros, the Ritz values
# ([lesson 2](2_polynomials.ipynb)). A number in double precision (`float64`) has about 16 digits, one in single
# precision (`float32`) about 7.

# %%
from workbench.extensions.lessons.rounding import precision_scene
from workbench.live import Lesson, PolynomialView, Stepper
from workbench.live.plots.chart import ChartView

# %%
lesson = Lesson("rounding")

# %% [markdown]
# ## 1. Convergence is delayed
#
# Without rounding errors CG ends after as many iterations as there are distinct eigenvalues. This spectrum has 24, most
# of them close together at the lower end. The plot on the right shows the error of CG
# [[exact|without rounding errors]], and of CG as it is computed in [[float64|double]] and in [[float32|single]]
# precision; the dotted curve without marks is the [[bound|CG bound]]. Point at an underlined word, and the picture
# marks it.

# %%
PolynomialView("dense at the lower end (Strakoš)", iteration=10, size=24, rounding=True)

# %% [markdown]
# For the first iterations the curves are one. Then the rounded ones fall behind. When the largest Ritz values have
# converged, rounding brings back parts of $r$ along their eigenvectors, and CG finds these eigenvalues **again**. On
# the left, green crosses are the [[ritz|Ritz values]] of exact CG, and orange ones below them those in
# [[copies|double precision]]; copies stand one below another. Move the slider to 20, then to 33: how often is 100
# found?
#
# So CG behaves as exact CG for a matrix that has a tiny cluster around each eigenvalue (Greenbaum 1989). Each copy
# costs a zero of the residual polynomial, so an iteration. This is called the **delay of convergence**: in finite
# precision CG needs more iterations for the same error. Bounds for exact CG that count a zero for each outlier, such as
# the composite bound of lesson 2, do not hold here (Gergelits and Strakoš 2014).
#
# Take other spectra from the menu: which are delayed, and which are not? Then take *dense at the lower end (Strakoš)*
# again, which the exercise is about.

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 11)

# %% [markdown] tags=["solution"]
# The sentence below the picture has both numbers. No tolerance and no stopping test brings these iterations back;
# making each residual orthogonal to all before it would, for the price of keeping them all.

# %% [markdown]
# ## 2. Orthogonality is lost
#
# The residuals of CG are orthogonal: $(r_i, r_j) = 0$, where $(v, w) = v^T w$. With a preconditioner $M$ (lesson 4) it
# is $(r_i, u_j) = 0$ for $u = M^{-1} r$. But CG makes $r_k$ orthogonal to the last ones only; that it is orthogonal to
# all others follows, without rounding errors.
#
# Below are CG and *pipelined CG* on two layers of fluid, 16 × 16 unknowns. $M$ is the diagonal of $A$, so that the
# condition number is 216 for $M^{-1}A$, and $2 \cdot 10^5$ for $A$ alone; $x_0$ is random. Without rounding errors both
# have the same iterates; pipelined CG has its lines in another order ([lesson 6](6_waiting.ipynb)). The maps show
# $|(r_i, u_j)|$, scaled to 1 on the diagonal: dark is orthogonal, and bright off the diagonal is a loss. In the curves
# $\|r\|$ has no marks, and $\|b - A x\|$ is dotted with marks. The upright dashed line is at the iteration of the
# slider; part 3 is about the level ones.

# %%
stepper = Stepper("cg", "pipecg", "two-layer:16", iterations=140, folded=True)
stepper.slider.value = 40
stepper

# %% [markdown]
# - Move the slider slowly. For which of the two methods does the sentence name a product above 0.01 first? How large
#   is its $\|b - A x\|$ then? And how large is that of the other one, when it first has such a product?
# - Move it to the right end. Does $\|b - A x\|$ fall as far as $\|r\|$? A method that breaks down has shorter curves.
#
# ## 3. The residual gap
#
# CG computes $x_{k+1} = x_k + \alpha_k p_k + \xi_k$ and $r_{k+1} = r_k - \alpha_k A p_k + \eta_k$ with rounding errors
# $\xi_k$ and $\eta_k$, and begins with $r_0 = b - A x_0 + \eta$. However wrong $\alpha_k$ is, it cancels in the
# difference:
#
# $$(b - A x_k) - r_k = -\eta - \sum_{j<k} (A \xi_j + \eta_j).$$
#
# These errors stay. The $r_k$ of CG continues to fall, while $b - A x_k$ stagnates at the size of the sum: the
# **attainable accuracy**. For CG it is at most about the precision, $10^{-16}$, times $\|A\|$ times the largest
# $\|x_j\|$ (Greenbaum 1997), here $8 \cdot 3 \cdot 10^5 \cdot 10^{-16} = 2 \cdot 10^{-10}$. Level dashed lines in the
# picture above are at the lowest $\|b - A x\|$ of each method. CG stays a hundred times below that bound, since $x$ is
# large in the heavy fluid, where the entries of $A$ are a thousand times smaller than $\|A\|$. Pipelined CG ends even
# above it: it computes $A u$ by a recurrence too, whose own errors grow on the way.
#
# These four variants of CG have the lines of CG in other orders:
#
# | written | method | how it gets $A u$ |
# |---|---|---|
# | `cgcg` | CG of Chronopoulos and Gear | multiplies $u$ by $A$ |
# | `gropp` | CG of Gropp | multiplies $u$ by $A$ |
# | `pipecg` | pipelined CG | by a recurrence |
# | `pipecg-rr` | pipelined CG with residual replacement | by a recurrence, and anew at each replacement |
#
# A *residual replacement* sets $r$ to $b - A x$ and computes the other vectors from it, now and then.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, "as low as that of CG")

# %% [markdown] tags=["solution"]
# Each replacement takes away the gap that the recurrences have brought by then, so the errors of the last few
# iterations remain, of the size of those of CG. `cgcg` and `gropp` multiply $u$ by $A$ itself, and fall as far as CG.

# %% [markdown]
# ## 4. Single precision, and the residual that decides
#
# Both runs solve Poisson's equation on 48 × 48 unknowns to a tolerance of $10^{-8}$. The curves are $\|r\| / \|b\|$.
# Rings mark the true residuals $\|b - A x\| / \|b\|$, where they were computed.

# %%
ChartView(scene=precision_scene(1e-8))

# %% [markdown]
# In single precision the curve of $r$ meets the tolerance. A program that believes it returns an $x$ whose residual is
# far larger than it says. So where $r$ meets the tolerance, the workbench computes $b - A x$. If that does not meet it,
# CG continues, and is checked again as $r$ falls; when $r$ is ten times below the tolerance, CG starts again from its
# $x$. After some restarts without success the run ends as *not converged*. One product with $A$ is the price of a
# number that one can trust.

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 4)

# %% [markdown] tags=["solution"]
# Single precision rounds to $6 \cdot 10^{-8}$, and the condition number of $A$, about 970, makes that about
# $6 \cdot 10^{-5}$: $10^{-4}$ can be met. The rings begin at $7 \cdot 10^{-5}$, and restarts bring them to
# $3 \cdot 10^{-5}$, but not below $10^{-5}$.

# %% [markdown]
# ## What you have learned
#
# - Rounding errors bring eigenvalues back that CG has already found: convergence is delayed, most where some
#   eigenvalues are far above the others.
# - The cause is that residuals are no longer orthogonal; pipelined CG loses this sooner than CG.
# - $r$ and $b - Ax$ differ by rounding errors that stay, so $b - Ax$ stagnates at the attainable accuracy.
# - Only $b - Ax$ decides whether a tolerance is met. One product with $A$ computes it.
#
# In the first picture, what does the delay become without the largest eigenvalue? Click it.
#
# *Sources:* A. Greenbaum, *Behavior of slightly perturbed Lanczos and conjugate-gradient recurrences*, Linear Algebra
# Appl. 113 (1989). A. Greenbaum, *Estimating the attainable accuracy of recursively computed residual methods*, SIAM J.
# Matrix Anal. Appl. 18 (1997). T. Gergelits and Z. Strakoš, *Composite convergence bounds based on Chebyshev
# polynomials and finite precision conjugate gradient computations*, Numer. Algorithms 65 (2014).
#
# **Next steps** in the workbench; [lesson 4](4_preconditioning.ipynb) makes the condition number smaller:

# %%
lesson.next_steps()
