# %% [markdown]
# # Deflation
#
# *Lesson 5, 45 minutes.* **Why do bubbles slow CG down, and which vectors help?**
#
# You need to know what a small eigenvalue costs CG ([lesson 2](2_polynomials.ipynb)), what $M^{-1}A$ is, and that
# Jacobi's $M$ is the diagonal $D$ of $A$ ([lesson 4](4_preconditioning.ipynb)). Products are written $(v, w) = v^Tw$.

# %%
from workbench.live import DiscVector, Lesson, RaceView, StepsOfDeflation, TinyEigenvalues
from workbench.run import configure
lesson = Lesson("deflation")

# %%
spaces = ("stripes", "blocks:4", "levelset:0", "levelset:4", "levelset:8", "levelset:24")
bubbles = configure("bubbles-2d", n=48, layout="random", count=9)

# %% [markdown]
# ## 1. A vector that costs next to nothing
#
# The pressure in a bubbly flow solves $-\nabla\cdot\left(\frac1\rho\nabla p\right) = f$. The density $\rho$ is 1 in a
# bubble and 1000 around it. On a grid each face between two cells $i$ and $j$ has a cost $c_{ij}$, the harmonic mean of
# $1/\rho$: **1** inside a bubble, **0.001** in the fluid, and **0.002** between both, since the heavy cell decides. In
# units of $1/h^2$, and with walls on all sides,
#
# $$(v, Av) = \sum_{\text{faces}} c_{ij}\,(v_i - v_j)^2, \qquad (v, Dv) = \sum_{\text{cells}} v_i^2
# \sum_{\text{its faces}} c_{ij} .$$
#
# Let [[v|$v$]] be 1 in some cells and 0 in all others. Then only the faces at the [[rim|rim]] of these cells count in
# $(v, Av)$. In $(v, Dv)$ each [[inner|face between two of the cells]] counts twice, and each face at the rim once. How
# small can the quotient [[quotient|$(v, Av)/(v, Dv)$]] be? Drag the blue cells, in which $v$ is 1, by the round handle
# in their middle; they form a disc, of 16 cells at first. The small square at its rim changes its size. Point at an
# underlined word, or reach it with the Tab key, and the nearest picture marks it.

# %%
DiscVector()

# %% [markdown]
# - Put the disc onto a bubble, so that no face of its rim costs 1. What does each cost now?
# - Move it a cell further (an arrow key moves it by a quarter of one). How many [[dear|faces cost 1]], and by which
#   factor has the quotient grown?
# - Make it large, so that its rim cuts one bubble. Which gives more of $(v, Av)$, the faces of this cut or all others?

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 6.66e-4)

# %% [markdown] tags=["solution"]
# The rim has $4\cdot4=16$ faces of 0.002, so $(v,Av)=0.032$. Between the cells are $2\cdot4\cdot3=24$ faces of 1, which
# count twice: $(v,Dv)=48+0.032$. The quotient is $0.032/48.032=0.00067$.

# %% [markdown]
# ## 2. One tiny eigenvalue per bubble
#
# By Courant and Fischer, $k$ eigenvalues of $D^{-1}A$ are no larger than the largest quotient on a space of dimension
# $k$. The vectors of $k$ bubbles span one. No two of these bubbles share a face, so $(v_i, Av_j) = (v_i, Dv_j) = 0$,
# and the largest quotient on the space is that of one bubble. So **$k$ bubbles of many cells give $k$
# [[tiny|tiny eigenvalues]]**. The fluid gives none: its costs are small in both sums. Bubbles that share a face count
# as one.
#
# With walls on all sides a constant costs nothing: $A\mathbf 1=0$ for $\mathbf 1=(1,\dots,1)^T$, so one of the $k$ is
# zero. It does no harm.
# The sum of $b$ is zero, so is that of each residual, and CG never meets this vector.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, 9)

# %% [markdown] tags=["solution"]
# Nine bubbles give nine tiny eigenvalues. With walls on all sides one of them would be zero. Here a constant costs
# something, at the faces of the upper side, so all nine are positive.

# %% [markdown]
# ## 3. A projection makes them zero
#
# Let the columns of [[z|$Z$]] be the vectors of $d$ bubbles, and
#
# $$E = Z^TAZ, \qquad Q = ZE^{-1}Z^T, \qquad P = I - AQ .$$
#
# $E$ has $d$ rows, so systems with it are solved directly. Three lines follow, each from the one definition of $E$:
#
# $$\begin{aligned}
# PAZ &= AZ - AZ\,E^{-1}(Z^TAZ) = 0, \\
# Z^TP &= Z^T - (Z^TAZ)\,E^{-1}Z^T = 0, \\
# PA &= A - AZ\,E^{-1}Z^TA = (PA)^T .
# \end{aligned}$$
#
# So $PA$ is symmetric and zero on the span of $Z$. CG solves $PA\hat x = Pb$ by its lines, with $PA$ in place of $A$:
#
# $$\begin{aligned}
# s &= PAp, & \delta &= (p, s), & \alpha &= \gamma/\delta, \\
# \hat x &\leftarrow \hat x + \alpha p, & r &\leftarrow r - \alpha s, & u &= M^{-1}r, \\
# \gamma &= (r, u), & \beta &= \gamma/\gamma_{\text{before}}, & p &\leftarrow u + \beta p .
# \end{aligned}$$
#
# In the end $x = Qb + P^T\hat x$ is the solution: $Ax = AQb + PA\hat x = AQb + Pb = b$, since $AP^T = PA$.

# %% [markdown]
# ## 4. Why zeros do no harm
#
# A zero eigenvalue makes the condition number infinite, and yet CG converges (Nicolaides 1987). Write
# [[u|$u_0 = M^{-1}r_0$]] as a sum of eigenvectors of $M^{-1}PA$, which are $M$-orthogonal. Those with
# [[zeros|eigenvalue zero]] are in the span of $Z$ and of the constant $\mathbf 1$. For the first,
# $r_0 = P\,(b - A\hat x_0)$ and $Z^TP = 0$ give
#
# $$(Zy,\ Mu_0) = (y,\ Z^Tr_0) = 0 .$$
#
# For the second, $(\mathbf 1, r_0) = 0$ as before, since $\mathbf 1^TP = \mathbf 1^T - (A\mathbf 1)^TQ = \mathbf 1^T$
# keeps the sum. So none of them is in $u_0$. The steps show it, computed for the five bubbles.

# %%
StepsOfDeflation()

# %% [markdown]
# So the residual polynomial has to be small at the **positive** eigenvalues alone, and the ratio
# [[kappa|$\kappa$]] of their ends counts. If $Z$ spans the eigenvectors of the $d$ smallest positive ones, $\lambda_1,
# \dots, \lambda_d$, it is $\kappa = \lambda_N/\lambda_{d+1}$. The vectors of bubbles come close to them in bubbles,
# but are 0 in the fluid, where eigenvectors vary smoothly. So some of the other eigenvalues become smaller: $\kappa$ is
# 1370 with four bubbles, and would be 111 with four eigenvectors. Move the slider from 0 to 5.

# %%
TinyEigenvalues()

# %% [markdown]
# - Each vector, up to four, [[gone|takes one tiny eigenvalue]]. Which part of the curve goes with it?
# - With four vectors no eigenvalue is tiny any more, and there are five bubbles. Why?
# - Tick *bubbles have moved on by a cell*: $Z$ is now that of the cells before. How many iterations does it save?
#
# <details><summary>Answers</summary>
#
# A plateau goes with each tiny eigenvalue. The constant has had its zero before, so the fifth vector takes no tiny one;
# it moves the smallest from 0.0015 to 0.0068, and saves 11 iterations. Five old vectors save 16 in place of 76: some
# faces at their rims cost 1, as in the first picture. So a simulation renews $Z$ wherever cells have changed.
#
# </details>

# %% [markdown]
# ## 5. Which vectors?
#
# In practice bubbles do not come one by one. The grid is cut into parts, each with a vector that is 1 in it:
#
# | written | in the race | a part is | vectors |
# |---|---|---|---|
# | `stripes` | Stripes along x | half a row of the grid | 96 |
# | `blocks:4` | 4² blocks | one of 4 × 4 squares | 16 |
# | `levelset:0` | One vector per region | a bubble, or the fluid | 10 |
# | `levelset:4` | 4² blocks split by phase | what a square has of a bubble, or of the fluid | 41 |
#
# All parts together are the grid, so their vectors add up to the constant, and with walls $E$ is singular: an inverse
# on its range takes the place of $E^{-1}$. The race has nine bubbles on $48\times48$ cells, and $M$ is Jacobi's.
# **Which spaces contain the vectors of bubbles?** Guess the order, then press Start.

# %%
race = RaceView(bubbles, *(configure(bubbles.problem, deflation=each, coarse="inverse") for each in spaces))
race.look.change(measure="iterations", with_setup=False)
race

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, "levelset:0")

# %% [markdown] tags=["solution"]
# One vector per bubble and one for the fluid are ten: 170 iterations in place of 260. `levelset:2` has 16, and needs
# 133. Stripes and the squares of `blocks:4` have rims through bubbles, and there are only 16 squares: 343 iterations.

# %% [markdown]
# ## 6. How many?
#
# Smaller parts also take over some of the slow, smooth error, so iterations become fewer. But each iteration now reads
# more: $E^{-1}$ is stored as a dense matrix here, $8d^2$ bytes for $d$ vectors. Set the x-axis to bytes.
# Which curve is first now, and why is it not the one with the fewest iterations? The exercise has two spaces that are
# not in the race, `levelset:2` with 16 vectors and `levelset:16` with 330. Where would their curves lie?

# %% tags=["exercise"]
lesson.check(4)

# %% tags=["solution"]
lesson.check(4, "levelset:8")

# %% [markdown] tags=["solution"]
# From `levelset:4` to `levelset:8` iterations fall from 90 to 53, and $E^{-1}$ grows from $41^2$ to $111^2$ numbers,
# which is still less than the vectors that an iteration reads. `levelset:24` takes 21 iterations, each with $655^2$.

# %% [markdown]
# ## What you have learned
#
# - A vector that is 1 in a bubble has a tiny quotient: every face at its rim has a heavy side, and many within cost 1.
# - $k$ bubbles give $k$ tiny eigenvalues, of which walls make one zero. CG pays for each of the others.
# - $P = I - AZE^{-1}Z^T$ makes $PA$ zero on the span of $Z$. Residuals have no part there, so zeros do no harm.
# - Parts must be cut at the bubbles, and be renewed when these move.
# - More vectors save iterations, until $d^2$ numbers of $E^{-1}$ cost more than they save.
#
# **Next steps** in the workbench; [lesson 7](7_many_at_once.ipynb) takes the same tiny eigenvalues away without $Z$:

# %%
lesson.next_steps()
