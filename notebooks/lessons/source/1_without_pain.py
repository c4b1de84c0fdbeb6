# %% [markdown]
# # CG without pain
#
# *Lesson 1, 45 minutes.* **Why does CG need two steps where steepest descent needs many?**
#
# You need to know what a symmetric positive definite matrix is, and its eigenvectors. With two unknowns everything
# can be drawn, and what you see holds for a million.

# %%
from workbench.live import Geometry2D, Lesson, RaceView, StepsOfCG
from workbench.run import configure
lesson = Lesson("without-pain")

# %% [markdown]
# ## 1. A linear system is the bottom of a bowl
#
# Let $A$ be symmetric positive definite, and $x^*$ the solution of $Ax=b$. The quadratic form
#
# $$\varphi(x) = \tfrac12 x^T A x - b^T x$$
#
# has the gradient $Ax-b$, which is minus the residual $r=b-Ax$. It is zero at $x^*$ alone, so **the solution of the
# system is the minimum of $\varphi$**. With the [[e|error $e=x-x^*$]] it is
#
# $$\varphi(x) = \varphi(x^*) + \tfrac12 e^T A e = \varphi(x^*) + \tfrac12 \|e\|_A^2 .$$
#
# The contour lines of $\varphi$ are therefore the ellipses on which the *A-norm* $\|e\|_A$ is constant. Their
# [[axes|axes]] lie along the eigenvectors of $A$, and the half axes of [[unit|$e^TAe=1$]] are $1/\sqrt{\lambda_1}$ and
# $1/\sqrt{\lambda_2}$ long. So the condition number $\kappa=\lambda_{\max}/\lambda_{\min}$ is **the square of their
# ratio**. The pictures have $x^*$ in the middle: what they show of a point $x$ is its error $e$. Point at an underlined
# word, or reach it with the Tab key, and the nearest picture marks it.

# %%
Geometry2D(switches=False)

# %% [markdown]
# Drag the three handles: the round one is the start, the square ones are the ends of the half axes. Tab reaches them
# too, and the arrow keys move them.
#
# - Drag the start onto an axis; it snaps to one that is near. How many steps does steepest descent take now?
# - Move it off the long axis, a little at first. And now?
# - With the start far from both axes, make the short one as short as you can. $\kappa$ is ten times larger, but
#   steepest descent takes fewer steps than from the first start. Part 2 has the reason.
# - Make both axes equally long. And now?

# %% [markdown]
# ## 2. Steepest descent
#
# From $x_k$ it walks downhill, along [[r0|$r_k$]], until $\varphi$ grows again. Along the line $x_k+\alpha r_k$ the
# derivative is $\;-r_k^T(r_k-\alpha A r_k)$, so the best step is
#
# $$\alpha_k = \frac{r_k^T r_k}{r_k^T A r_k}, \qquad r_{k+1}=r_k-\alpha_k A r_k, \qquad r_{k+1}^T r_k = 0 .$$
#
# The next direction, [[r1|$r_1$]], is orthogonal to the last one: the step ends where it *touches* a
# [[touched|contour line]], the dashed one, and the path turns by 90°. With two unknowns there are only two directions,
# one after the other. That is the [[zigzag|zigzag]]: **each step spoils part of what the last one has achieved.**
#
# If $r_k$ is an eigenvector, one step ends in $x^*$. The more evenly $r_k$ is shared between the two eigenvectors, the
# less a step achieves. (A very short axis takes nearly all of $r_0$, so that few steps are enough in spite of the large
# $\kappa$.) At worst (Kantorovich's inequality) it leaves
#
# $$\frac{\|e_{k+1}\|_A}{\|e_k\|_A} = \frac{\kappa-1}{\kappa+1}$$
#
# of the error. For $\kappa=9$ that is 80%. From which start?

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 9)

# %% [markdown] tags=["solution"]
# The eigenvalues are $1/9$ and $1$, so the residual at the start is $-(s/9,\ 1)$. Steepest descent is slowest if both
# eigenvectors have an equal share of it: $s=\kappa=9$. Then $\alpha_0=2/(1/9+1)=1.8$. The first part of the error is
# multiplied by $0.8$, the second by $-0.8$: the next error has the same shape, mirrored.

# %% [markdown]
# ## 3. The direction that spoils nothing
#
# CG begins like steepest descent, with [[p0|$p_0$]]$\,=r_0$. After that step the error [[e1|$e_1$]] satisfies
# $p_0^T A e_1 = -p_0^T r_1 = 0$, since the step was the best one. A second step along [[p1|$p_1$]] leaves this true
# if and only if
#
# $$p_0^T A\, p_1 = 0 .$$
#
# Such directions are called **conjugate**. In two dimensions only [[conjugate|one line]] is conjugate to $p_0$, and the
# error $e_1$ lies on it. So the step along it ends in the solution. CG takes the residual [[r1|$r_1$]] and adds
# [[bp|$\beta_0 p_0$]], which removes what is not conjugate:
#
# $$p_1 = r_1+\beta_0 p_0, \qquad p_0^T A p_1=0 \;\Rightarrow\;
# \beta_0=-\frac{p_0^T A r_1}{p_0^T A p_0}=\frac{r_1^Tr_1}{r_0^Tr_0}.$$
#
# The last equality holds since $A p_0=(r_0-r_1)/\alpha_0$, $p_0=r_0$ and $r_1^T r_0=0$. It costs nothing: both
# products are known anyway.
#
# What does conjugate look like? Put $y=\sqrt A\,x$ with the root $\sqrt A$ of $A$, which is symmetric positive definite
# too. Then $\|e\|_A$ is the ordinary length of $\sqrt A\,e$, the ellipses become circles, and $p_0^TAp_1=0$ says that
# $\sqrt A\,p_0$ and $\sqrt A\,p_1$ are **orthogonal**. Scroll the derivation, and the picture follows. Its handles can
# be dragged until it is stretched.

# %%
StepsOfCG()

# %% [markdown]
# On circles the way to the centre is: walk until you touch the smallest circle, turn by 90°, and you point at the
# centre. CG does that. Steepest descent turns by 90° in the picture that is not stretched, where it does not help.
#
# - Drag the axes at *The second step*, and compare with *Stretched by √A*. Which of the two angles stays as it is?
# - Where must the start be so that both methods have one and the same path?

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, -2.5)

# %% [markdown] tags=["solution"]
# $Ap_0=(5, 2)$, so $p_0^TAp_1=5+2\cdot p$ for $p_1=(1, p)$, which is zero for $p=-2.5$.

# %% [markdown]
# ## 4. More unknowns
#
# With $N$ unknowns CG makes each new direction conjugate to all before it, and only the last one is needed for that: $A
# p_j = (r_j - r_{j+1})/\alpha_j$, and the new residual is orthogonal to all before it, so it is conjugate to all
# directions but the last. So after $N$ steps nothing is left, in exact arithmetic. In practice far fewer are made: what
# counts is how fast the error falls before. Steepest descent leaves at worst $(\kappa-1)/(\kappa+1)$ of the error in
# each step. The *CG bound* is
#
# $$\|e_k\|_A \le 2\left(\frac{\sqrt\kappa-1}{\sqrt\kappa+1}\right)^k \|e_0\|_A .$$
#
# The root makes the difference: for $\kappa=100$ the factor is 98% with steepest descent, and 82% with CG. Start the
# race, on a Poisson problem with $32\times32$ unknowns. Its x-axis counts iterations; an iteration costs both methods
# one product with $A$.

# %%
race = RaceView(*(configure("poisson5", n=32, solver=name, preconditioner="none") for name in ("sd", "cg")))
race.look.change(measure="iterations", with_setup=False)
race

# %% [markdown]
# This matrix has $\kappa=441$, so the two factors are 99.5% and 90.9%. For $10^{-6}$ they allow steepest descent 3045
# iterations and CG 153. (They bound the A-norm of the error; the race shows residuals.) Which of the two methods is
# close to its worst case? [Lesson 2](2_polynomials.ipynb) explains the other.
#
# ## 5. A preconditioner changes the picture
#
# Jacobi's preconditioner is the diagonal $M=D$ of $A$. Both methods then work as if on
# $D^{-1/2}AD^{-1/2}$ in the coordinates $\sqrt D\,x$: each coordinate is stretched by its own factor. The
# second plot shows these coordinates. That matrix has ones on its diagonal, so its eigenvectors are $(1, 1)$ and
# $(1, -1)$, and the ellipses always lie at 45°.

# %%
Geometry2D(angle=10, jacobi=True)

# %% [markdown]
# Rotate the axes by dragging the end of one around, and watch the second plot.
#
# - At 0° Jacobi is perfect. Why?
# - Switch *Stretched coordinates* on as well: what do the circles say about CG with a preconditioner?

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 45)

# %% [markdown] tags=["solution"]
# At 45° both coordinates play the same part, so the diagonal of $A$ is a multiple of the identity. A constant factor
# changes no condition number. Jacobi helps where the unknowns are scaled differently, and not where they are coupled.

# %% [markdown]
# One more question for the picture: from which start does steepest descent with Jacobi take more steps than without
# it, although the condition number is smaller? What does that say about condition numbers?
#
# ## What you have learned
#
# - The solution of $Ax=b$ is the bottom of a bowl, and its contour lines are the more elongated, the larger $\kappa$
#   is.
# - Steepest descent makes each step orthogonal to the last, spoils what that has achieved, and leaves at worst
#   $(\kappa-1)/(\kappa+1)$ of the error.
# - CG makes directions conjugate, which is orthogonal once the bowl is round. Two steps are enough for two unknowns.
# - Its bound has $\sqrt\kappa$ in place of $\kappa$, and a preconditioner makes $\kappa$ smaller.
#
# **Next steps** in the workbench; [lesson 2](2_polynomials.ipynb) asks what CG does with many eigenvalues:

# %%
lesson.next_steps()
