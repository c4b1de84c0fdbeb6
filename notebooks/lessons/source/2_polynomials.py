# %% [markdown]
# # Polynomials
#
# **Which spectra does CG like?** The condition number is only half of the answer: it matters where the eigenvalues lie.
# 45 minutes. You need eigenvalues, eigenvectors, and the steps of CG.

# %%
from workbench.live import Lesson, PolynomialView
lesson = Lesson("polynomials")

# %% [markdown]
# ## From CG to a polynomial
#
# CG adds directions from the Krylov space span$\{r_0, A r_0, \dots, A^{k-1} r_0\}$ to $x_0$. So its error and its
# residual are polynomials in $A$ times the first ones:
#
# $$e_k = p_k(A)\, e_0, \qquad r_k = p_k(A)\, r_0, \qquad p_k \text{ of degree } k, \quad p_k(0) = 1.$$
#
# Write $e_0 = \sum_i \varepsilon_i v_i$ in orthonormal eigenvectors. $A$ multiplies the part along $v_i$ by
# $\lambda_i$, so $p_k(A)$ multiplies it by the number $p_k(\lambda_i)$, and of all such polynomials CG takes the one
# that makes
#
# $$\|e_k\|_A^2 = \sum_i \lambda_i\, \varepsilon_i^2\, p_k(\lambda_i)^2$$
#
# smallest. Only the values **at the eigenvalues** count. In the picture $A$ is diagonal and $b = (1, \dots, 1)$,
# therefore $\varepsilon_i = 1/\lambda_i$ and the weight of $p_k(\lambda_i)^2$ is $1/\lambda_i$: small eigenvalues count
# most.

# %%
PolynomialView("evenly spread", iteration=4)

# %% [markdown]
# Left is $p_k$, right the A-norm of the error. Turn the iteration with the slider: each iteration brings one more zero.
# The zeros are the **Ritz values**, the eigenvalues of the Lanczos matrix $T_k$ of CG's own $\alpha$ and $\beta$:
#
# $$p_k(\lambda) = \prod_{j=1}^{k} \Bigl(1 - \frac{\lambda}{\theta_j}\Bigr).$$
#
# Drag an eigenvalue (orange, on the axis) and watch both pictures. Move two of them onto each other: for CG they are
# one.

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 4)

# %% [markdown] tags=["solution"]
# A polynomial with a zero at each of the four distinct eigenvalues makes every term of the sum zero, however often each
# eigenvalue occurs. With fewer zeros one of them is missed.

# %% [markdown]
# ## Why the bound is so often wrong
#
# The CG bound knows only the smallest and the largest eigenvalue. It replaces the eigenvalues by the whole interval
# between them, on which the best polynomial is a shifted Chebyshev polynomial:
#
# $$\frac{\|e_k\|_A}{\|e_0\|_A} \le \min_{p(0) = 1} \max_i |p(\lambda_i)| \le 2
# \left(\frac{\sqrt\kappa - 1}{\sqrt\kappa + 1}\right)^{k}, \qquad \kappa = \frac{\lambda_{\max}}{\lambda_{\min}}.$$
#
# Between the eigenvalues $p_k$ may be as large as it likes, and CG uses that. Clusters cost about one zero each:

# %%
PolynomialView("three clusters", iteration=3)

# %% [markdown]
# Press **|p|, log axis** to see how small $p_k$ is in each cluster. Then choose *three outliers above*: a large
# eigenvalue that stands alone takes one zero and costs one iteration, and hardly disturbs the rest, since a factor $1 -
# \lambda/\theta$ with large $\theta$ is almost 1 for small $\lambda$.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, "1 1.001 1.002 1.003 1.004 1.005 1.006 1000")

# %% [markdown] tags=["solution"]
# Two clusters need two zeros, and the third is spent where the weight $1/\lambda$ is largest. Other answers are right
# too.

# %% [markdown]
# ## One tiny eigenvalue
#
# Each bubble of a much lighter fluid brings such an eigenvalue. By its weight $1/\lambda$ it holds nearly all of the
# error, and a zero close to it makes $p_k$ large at the others unless they have zeros too: the error waits for these.

# %%
PolynomialView("one tiny, as of a bubble", iteration=8)

# %% [markdown]
# Turn the slider and follow the smallest Ritz value: the error falls when it arrives. Then **click** the smallest
# eigenvalue. That deflates it: its part of the error is solved for directly, and CG sees the others only. Look at the
# new bound too. Click again to bring it back.

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, "0.001")

# %% [markdown] tags=["solution"]
# The tiny eigenvalue has by far the largest weight, and a factor of $p_k$ with its zero there is large at all others.
# The large one costs an iteration, and those in the middle share their zeros.

# %% [markdown]
# **What to try next.**
#
# - How near must the eigenvalues of a cluster be to each other? Write your own spectrum into the field.
# - Where does the picture fail? Tick **rounding** with the spectrum *dense below*: CG as it is computed in double and
#   in single precision is late. That is [lesson 3](3_rounding.ipynb).
# - `SpectrumView` draws the same for a run of your own; lesson 5 deflates real bubbles.
