# %% [markdown]
# # Polynomials
#
# *Lesson 2, 45 minutes.* **Which spectra does CG like?**
#
# You need eigenvalues and eigenvectors, the A-norm of the error, and the steps of CG (lesson 1). The condition number
# is only half of the answer: it matters where the eigenvalues lie.

# %%
from workbench.live import Lesson, PolynomialView
lesson = Lesson("polynomials")

# %% [markdown]
# ## 1. From CG to a polynomial
#
# CG adds directions from the Krylov space span$\{r_0, A r_0, \dots, A^{k-1} r_0\}$ to $x_0$. Since $r_0 = -A e_0$ with
# the error $e = x - x^*$, they are powers of $A$, from the first one on, times $e_0$. So its error and its residual are
# polynomials in $A$ times the first ones ($p_k$ is a polynomial in this lesson, and no direction):
#
# $$e_k = p_k(A)\, e_0, \qquad r_k = p_k(A)\, r_0, \qquad p_k \text{ of degree } k, \quad p_k(0) = 1.$$
#
# Write $e_0 = \sum_i \varepsilon_i v_i$ in orthonormal eigenvectors. $A$ multiplies the part along $v_i$ by
# $\lambda_i$, so $p_k(A)$ multiplies it by the number $p_k(\lambda_i)$, and of all such polynomials CG takes the one
# that makes the [[error|A-norm of the error]],
#
# $$\|e_k\|_A^2 = \sum_i \lambda_i\, \varepsilon_i^2\, p_k(\lambda_i)^2$$
#
# smallest. Only the values [[at|at the eigenvalues]] count. In this lesson $A$ is diagonal, $x_0 = 0$ and $b = (1,
# \dots, 1)$. Therefore $|\varepsilon_i| = 1/\lambda_i$, and the weight of $p_k(\lambda_i)^2$ is $1/\lambda_i$: small
# eigenvalues count most. Point at an underlined word, and the nearest picture marks it.

# %%
PolynomialView("evenly spread", iteration=4)

# %% [markdown]
# On the left is [[p|$p_k$]], on the right the [[error|A-norm of the error]]. Move the slider: each iteration brings one
# more zero. The zeros are the [[ritz|Ritz values]] $\theta_j$: the eigenvalues of $V_k^TAV_k$, where the
# columns of $V_k$ are an orthonormal basis of the Krylov space, to which $r_k$ is orthogonal:
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
# ## 2. Why the bound is so often far too large
#
# The [[bound|CG bound]] knows only the smallest and the largest eigenvalue. It replaces the eigenvalues by the whole
# interval between them, on which the best polynomial is a shifted Chebyshev polynomial:
#
# $$\frac{\|e_k\|_A}{\|e_0\|_A} \le \min_{p(0) = 1} \max_i |p(\lambda_i)| \le 2
# \left(\frac{\sqrt\kappa - 1}{\sqrt\kappa + 1}\right)^{k}, \qquad \kappa = \frac{\lambda_{\max}}{\lambda_{\min}}.$$
#
# Between the eigenvalues $p_k$ may be as large as it likes, and CG uses that. Without rounding errors, narrow clusters
# cost about one zero each. These are three, and three iterations leave about one per cent of the error:

# %%
PolynomialView("three clusters", iteration=3)

# %% [markdown]
# Press **|p|, log axis**: $|p_3|$ is below 0.2 in each cluster, and reaches 28 between them. Of the clusters it is
# largest in the upper one: at a large $\lambda$ the factors $1 - \lambda/\theta$ of smaller zeros are large, so $p$ is
# steep there, and an upper cluster has to be far narrower than a lower one. Press **p**, and choose *three outliers
# above*. A large eigenvalue that is far from all others takes one zero and costs one iteration. It hardly disturbs the
# rest, since a factor $1 - \lambda/\theta$ with large $\theta$ is almost 1 for small $\lambda$. For $m$ such outliers
# this gives the *composite bound*: $m$ iterations, and then the CG bound with the $\kappa$ of the rest.
#
# Click the three outliers, one after the other, which takes them out (the field has them in parentheses): for the rest
# the CG bound says 9 iterations to $10^{-6}$. So the composite bound is $3 + 9 = 12$. Click them again to bring them
# back: CG takes 11.
#
# **It holds without rounding errors only.** Tick **rounding**: CG as it is computed takes more than 12 iterations, in
# single precision (float32) above all, since it needs further zeros for the outliers later. So composite bounds do not
# describe CG in finite precision (Gergelits and Strakoš 2014). [Lesson 3](3_rounding.ipynb) shows why.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, "1 1.001 1.002 1.003 1.004 1.005 1.006 1000")

# %% [markdown] tags=["solution"]
# Two clusters need two zeros, and the third is spent where the weight $1/\lambda$ is largest. Other answers are right
# too.

# %% [markdown]
# ## 3. One tiny eigenvalue
#
# Each bubble of a much lighter fluid brings such an eigenvalue. By its weight $1/\lambda$ it holds nearly all of the
# error at the start, and a zero close to it makes $p_k$ large at the others unless they have zeros too: the error waits
# for these.

# %%
PolynomialView("one tiny eigenvalue (a bubble)", iteration=5)

# %% [markdown]
# Move the slider and follow the smallest [[ritz|Ritz value]]: the error falls when it arrives. Then set the slider to 5
# and **click** the smallest eigenvalue. That deflates it: its part of the error is solved for directly, and CG sees the
# others only. Compare the error after 5 iterations, the iterations to $10^{-6}$, and the bound. Click again to bring it
# back.

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, "50")

# %% [markdown] tags=["solution"]
# Here all $\varepsilon_i$ have the same size, so the weight of $p_k(\lambda_i)^2$ is $\lambda_i$: the eigenvalue
# 50 has 45% of the sum at the start, and the tiny one next to nothing. CG reaches a hundredth without a zero near
# 0.001. The CG bound knows nothing of weights, so it is smallest without 0.001.
#
# **The answer depends on $b$.** With $b = (1, \dots, 1)$, as in the pictures, the weight is $1/\lambda_i$, and
# deflating 0.001 helps most: CG takes 7 iterations in place of 13. Eigenvalues alone do not decide how CG converges;
# the parts of the error in their eigenvectors do too.

# %% [markdown]
# ## What you have learned
#
# - The error of CG after $k$ iterations is $p_k(A)e_0$, and $p_k$ is the best polynomial **for the eigenvalues and the
#   parts of the error in them**.
# - Its zeros are the Ritz values. An eigenvalue without a zero nearby holds the error up.
# - The CG bound sees the ends of the spectrum alone; clusters and outliers let CG converge faster, as long as rounding
#   errors do not matter.
# - Deflation takes an eigenvalue away, so that CG needs no zero for it.
#
# How near must the eigenvalues of a cluster be to each other? Write your own spectrum into the field above.
#
# **Next steps** in the workbench; [lesson 3](3_rounding.ipynb) computes with rounding errors:

# %%
lesson.next_steps()
