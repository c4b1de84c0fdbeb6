# %% [markdown]
# # Many at once
#
# *Lesson 7, 45 minutes.* **What do more right-hand sides and more preconditioners bring?**
#
# You need to know that CG's error is the smallest in a Krylov space ([lesson 2](2_polynomials.ipynb)), what $M^{-1}A$
# is ([lesson 4](4_preconditioning.ipynb)), and that bubbles give tiny eigenvalues ([lesson 5](5_deflation.ipynb)).
# Letters are those of the stepper: $R$ is the block of residuals, $U = M^{-1}R$, $P$ that of directions, $S = AP$; $(P,
# S) = P^TS$ is a small matrix.

# %%
from workbench.live import Lesson, MarkedSteps, RaceView, StepsOfBlockCG, TinyEigenvalues
from workbench.run import configure
lesson = Lesson("many-at-once")

# %%
boxes = ("schwarz:2x2,overlap=2", "schwarz:2x2,overlap=0")
pairs = [(solver, each) for each in boxes for solver in ("mpcg", "sum-cg")]

# %% [markdown]
# ## 1. One search space for all columns
#
# $AX = B$ has $s$ columns. CG of one column adds one direction to its space in each iteration. Block CG (O'Leary 1980)
# lets every column use the directions of all: $s$ new ones in each iteration. Let $P$, $N\times s$, hold them. The step
# of column $j$ is $P$ times a column $a_j$ of a small matrix $\alpha$, and it is chosen so that the $A$-norm of the
# error of that column is smallest. The derivative with respect to $a_j$ has to be zero:
#
# $$P^T\left(r_j - AP\,a_j\right) = 0 \quad\text{for each column, so}\quad (P, S)\,\alpha = (P, R) .$$
#
# This is the small system of block CG, $s\times s$. **The new residual is orthogonal to all directions of $P$.**

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 4)

# %% [markdown] tags=["solution"]
# Each iteration adds three directions, and twelve span the whole space: $12/3=4$. CG of one column would need twelve.

# %% [markdown]
# ## 2. The scalars become matrices
#
# Two facts turn this into lines. Let [[delta|$\delta = (P, S)$]] and [[gamma|$\gamma = (R, U)$]], symmetric as $A$ and
# $M$ are. Point at an underlined product: a map shows it for all iterations, and dark is zero.
#
# **The step.** $P$ is made of $U$ and of the directions before, to which $R$ is orthogonal. So
# [[pr|$(P, R)$]] $= (U, R) = \gamma$, and
#
# $$\delta\,\alpha = \gamma, \qquad X \leftarrow X + P\alpha, \qquad R \leftarrow R - S\alpha .$$
#
# **The direction.** Let $R_+$, $U_+$ and $\gamma_+$ be those after the step. The next direction is $U_+ + P\beta$, with
# $\beta$ such that it is conjugate to $P$: [[su|$(S, U_+)$]] $+\, \delta\,\beta = 0$. Residuals of two iterations are
# orthogonal, $(R, U_+) = 0$, and $S\alpha = R - R_+$. So
#
# $$\alpha^T(S, U_+) = -\gamma_+, \qquad \alpha^T = \gamma\,\delta^{-1}
# \quad\Rightarrow\quad \gamma\,\beta = \gamma_+ .$$
#
# Both facts are about products that are zero. Scroll through them, as measured in four iterations with $s=2$:

# %%
StepsOfBlockCG()

# %% [markdown]
# With $s=1$ these are the lines of CG, $\alpha=\gamma/\delta$ and $\beta=\gamma_+/\gamma$. The lines below write
# $\gamma_+$ over $\gamma$ and keep the one before as $\gamma_{k-1}$, so there
# $\beta \leftarrow \gamma_{k-1}^{-1}\gamma$. *step* is $\alpha$ with zeros for the columns of $X$ that have met the
# tolerance.
#
# Step through the lines: the keys Right and Left go by lines, Down and Up by iterations. Which lines make a small
# matrix, such as [[alpha|$\alpha$]] and [[beta|$\beta$]], and which a block of vectors, such as [[p|$P$]] and
# [[r|$R$]]?

# %%
MarkedSteps("block-cg-oleary", "poisson5", n=12, rhs="random:2")

# %% [markdown]
# ## 3. Rank
#
# $\delta$ can be inverted only if the columns of $P$ are independent. If a column of $B$ is a combination of others,
# they are not. Below, $B$ has two pairs of equal columns. Press Next line until the method ends, at the line of
# [[alpha|$\alpha$]]. The pictures next to the lines have the four rows of [[delta|$\delta$]]: **which of them are
# equal, so that it has no inverse?**

# %%
MarkedSteps("block-cg-oleary", "poisson5", n=12, rhs="pairs:4")

# %% [markdown]
# The space has dimension two, although there are four columns. So the block must shrink. `block-cg` (Dubrulle 2001)
# writes $R = QC$ with orthonormal columns of $Q$ and a small matrix $C$. It drops columns of $Q$ that depend on others,
# and keeps all columns of $X$, whose steps are those of the smaller block times $C$. Residuals may become dependent
# later, too; the block then shrinks.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, 3)

# %% [markdown] tags=["solution"]
# The six columns span a space of dimension three: $b_1$, $b_2$ and $b_3$. The directions depend on that space alone.

# %% [markdown]
# ## 4. What a block finds together
#
# With $s$ directions in each iteration, $s-1$ of them can be spent on the $s-1$ smallest eigenvalues. So the error of
# block CG has, up to a constant, the bound of CG with another condition number (O'Leary 1980),
#
# $$\kappa_s = \lambda_N / \lambda_s, \qquad 0 < \lambda_1 \le \dots \le \lambda_N ,$$
#
# where these are the positive eigenvalues of $M^{-1}A$. The five bubbles are those of lesson 5, with four positive
# [[tiny|tiny eigenvalues]]. There, each deflation vector took one away. Here, each further right-hand side
# does, and the places of the bubbles need not be known. Move the slider: [[least|$\lambda_s$]] moves to the right,
# [[most|$\lambda_N$]] stays.

# %%
TinyEigenvalues("columns")

# %% [markdown]
# - $\kappa_s$ falls with each column. At which $s$ does it fall by a factor of about 100, and why there?
# - Iterations become fewer with each column. Do products with $A$? Tick *x-axis: products with A*.
# - The bound has this jump at one $s$, the iterations have none. A bound says what cannot happen, not what does.

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 4)

# %% [markdown] tags=["solution"]
# With walls on all sides three of the four tiny eigenvalues are positive, so $s-1=3$.

# %% [markdown]
# ## 5. Several preconditioners
#
# Now $b$ is one vector, and there are $k$ preconditioners $M_1^{-1}, \dots, M_k^{-1}$; here $M_i^{-1}$ solves in box
# $i$ of the grid. CG can only take their sum.
#
# - **CG with a sum of preconditioners** (`sum-cg`) is CG with $M^{-1} = M_1^{-1} + \dots + M_k^{-1}$: all
#   weights are one.
# - **Multipreconditioned CG** (`mpcg`, Bridson and Greif 2006) searches along all terms at once, which are the columns
#   of $Z = [M_1^{-1}r, \dots, M_k^{-1}r]$, another $Z$ than in lesson 5. It makes them $A$-orthonormal, to each other
#   and to all blocks before, and calls the result $P$. Then the small system of part 1 is solved already:
#
# $$(P, AP) = I \quad\Rightarrow\quad \alpha = (P, r), \qquad d = P\alpha,$$
#
# and $x \leftarrow x + d$, $r \leftarrow r - Ad$.
#
# So each iteration chooses the best weights. **The price:** in CG a new direction is conjugate to all but the last one
# by itself, because $M^{-1}Ap_j$ lies in the Krylov space of $M^{-1}A$ to which the new residual is orthogonal. With
# several $M_i^{-1}$ there is no such space. All blocks must be kept: after $j$ iterations these are up to $jk$
# directions, and each iteration reads all of them. $A$ multiplies the $k$ columns of $Z$ in place of one vector.
#
# Press Start. In entries 1 and 2 the boxes overlap by two cells, which is the default; in 3 and 4 they do not. Without
# overlap the sum of all $M_i^{-1}r$ corrects cells at the cuts too little, since each box takes what lies outside it as
# zero. With overlap such a cell has the corrections of two boxes, which add up. **With which of the two do weights save
# more?** Compare entry 1 with 2, and 3 with 4.

# %%
race = RaceView(*(configure("two-layer", n=48, solver=solver, preconditioner=each) for solver, each in pairs))
race.look.change(measure="iterations", with_setup=False)
race

# %% tags=["exercise"]
lesson.check(4)

# %% tags=["solution"]
lesson.check(4, "schwarz:4x4,overlap=0")

# %% [markdown] tags=["solution"]
# More boxes and no overlap: the sum is a poor $M$, and weights help most. To see the curves, open *Add a method* below
# the race. Write 4x4 as *Boxes per side* and, under *Advanced*, 0 as *Overlap*, and press *Add entry*, once for each
# solver.

# %% [markdown]
# ## What you have learned
#
# - Block CG has one space for all columns. Its scalars are $s\times s$ matrices: $\delta\alpha=\gamma$,
#   $\gamma\beta=\gamma_+$.
# - Dependent columns make $\delta$ singular, so the block must shrink to their rank.
# - A block of $s$ columns finds the $s-1$ smallest eigenvalues together. It needs fewer iterations than one column, and
#   far fewer products with $A$ than its columns one by one.
# - Several preconditioners give a block of directions with the best weights, and cost the short recurrence.
#
# **Next steps** in the workbench:

# %%
lesson.next_steps()
