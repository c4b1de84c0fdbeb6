# %% [markdown]
# # Waiting
#
# *Lesson 6, 45 minutes.* **How does pipelined CG follow from CG, and what is it good for?**
#
# You need CG with a preconditioner, $u = M^{-1}r$ ([lesson 4](4_preconditioning.ipynb)), and what it means that
# directions are conjugate ([lesson 1](1_without_pain.ipynb)). Products are written as in the stepper: $(u, v) = u^Tv$.
#
# On many processors each has some rows of $A$ and of every vector. An update such as $r \leftarrow r - \alpha s$
# needs nothing of the others, the product $Ap$ a few entries of neighbours. A dot product needs all of them: every
# processor adds up its rows, and a *reduction* adds these sums and sends the result to all. It moves a few bytes, so it
# costs *latency* alone, and that grows with the number of processors while the work of each shrinks.

# %%
from workbench.live import Lesson, MoveLines, Schedules, StepView, TimelineView
from workbench.run import Run, configure, run_through
lesson = Lesson("waiting")

# %% [markdown]
# ## 1. Where CG waits
#
# Step through an iteration: press *Next line*. $\delta = (p, Ap)$ must be known to everyone before $r$ changes, and
# $\gamma = (r, u)$ before $p$ does. Everything after a sum needs it, so the **two reductions follow one another**, and
# nothing is left to be done meanwhile.

# %%
StepView("cg", "two-layer", n=8)

# %% [markdown]
# ## 2. On this machine there is no waiting
#
# CG and pipelined CG here, measured: bars are kernels. All sums are made in one memory, so there is nothing to hide,
# and pipelined CG has more to do: it updates five more vectors. (Other work of this machine makes some bars longer.)
# Zoom in with the wheel until single iterations are apart. Point at a bar: what does it do, and to
# which line does it belong?

# %%
both = [configure("two-layer", n=96, solver=solver) for solver in ("cg", "pipecg")]
TimelineView([run_through(Run(each, trace=True)) for each in both])

# %% [markdown]
# ## 3. From CG to one reduction
#
# Every $x$ stays the same, in exact arithmetic. Three facts are used.
#
# - **A is linear.** With $p_{new} = u + \beta p$ and $s = Ap$: $\;s_{new} = Au + \beta s = w + \beta s$, where
#   $w = Au$.
# - **Directions are conjugate:** $(p_{new}, Ap) = 0$. So
#   $\delta = (p_{new}, s_{new}) = (u, s_{new}) = (u, w) + \beta (u, s)$.
# - **Residuals are orthogonal:** the residual before, $r_{old} = r + \alpha s$, has $(u, r_{old}) = 0$. So
#   $(u, s) = \big((u, r_{old}) - (u, r)\big)/\alpha = -\gamma/\alpha$.
#
# Together, with $\omega = (u, w)$:
#
# $$\delta = \omega - \beta\,\gamma/\alpha .$$
#
# $\omega$ and $\gamma$ need $u$ alone, and no sum needs the other, so **one** wait is left: the method of Chronopoulos
# and Gear (1989). Both may be sent together; the lanes below send $\gamma$ while $A$ works, and $\omega$ after it.
#
# Below is the same, one change at a time: the lines before the change on the left, after it on the right, with the
# value of each line in iteration 3. Press *Next change* up to number 6. Then move lines on the right yourself, by
# dragging or with the arrows: after every move both methods run, and the page shows where they first differ. *Undo
# moves* brings the lines back.

# %%
MoveLines("pipelined")

# %% [markdown]
# Now without looking. The field takes lines as code writes them, Greek letters by their names. They are run, and not
# compared with a stored answer.

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, """
p = u + beta*p
s = w + beta*s
delta = omega - beta*gamma/alpha
alpha = gamma/delta if delta > 0 else 0
previous = gamma
x = x + alpha*p
r = r - alpha*s
u = M(r)
gamma = (r, u)
uu = (u, u)
rr = (r, r)
w = A(u)
omega = (u, w)
beta = gamma/previous
""")

# %% [markdown]
# ## 4. Work in place of waiting
#
# One reduction is left, and the next lines need it. But a processor may compute while its sums travel, if there is
# something to compute that does not need them: *overlap*. So the products are made of vectors that are known before.
# Since $u = M^{-1}r$,
#
# $$\begin{aligned}
# u_{new} &= u - \alpha q, & q_{new} &= M^{-1}s_{new} = m + \beta q, & m &= M^{-1}w, \\
# w_{new} &= w - \alpha z, & z_{new} &= Aq_{new} = n + \beta z, & n &= Am.
# \end{aligned}$$
#
# $m$ and $n$ need $w$, not $\gamma$ or $\omega$: both products hide the reduction. This is *pipelined CG* (Ghysels
# and Vanroose 2014). The price is five more vectors to update, and rounding errors in five more recurrences. In the
# picture above, changes 7 and 8 are these. W. Gropp's CG (2010) stops earlier: two reductions, one next to $M$ and one
# next to $A$. It has five changes:

# %%
MoveLines("Gropp")

# %% [markdown]
# The lanes are **modelled**, nothing of them was measured. Each of 4096 GPUs has its share of 30 million unknowns, 7
# entries a row; bytes, and the bandwidths and latencies of an H200 and of its connections, some of them assumed, give
# the times. Pale grey is waiting. $M$ is Jacobi there, which is computed in a pass with other lines, so it hides
# little.
#
# **Order matters too.** Neighbouring lines are *fused* into one pass over memory as long as none needs a sum of that
# pass, and a sum starts at its line. So the same correct lines can be in an order in which no work overlaps a sum.

# %% tags=["exercise"]
lesson.check(2)

# %% tags=["solution"]
lesson.check(2, """
p = u + beta*p
q = m + beta*q
z = n + beta*z
s = w + beta*s
delta = omega - beta*gamma/alpha
alpha = gamma/delta if delta > 0 else 0
previous = gamma
x = x + alpha*p
r = r - alpha*s
u = u - alpha*q
w = w - alpha*z
gamma = (r, u)
omega = (u, w)
uu = (u, u)
rr = (r, r)
m = M(w)
n = A(m)
beta = gamma/previous
""")

# %% [markdown]
# ## 5. One GPU, 4096 GPUs
#
# The sliders are a machine, here one with two GPUs. The curves are strong scaling, modelled: the same system on 1 to
# 4096 GPUs. Where a curve rises, more GPUs cost more latency than they save work. Below *Several GPUs* move the slider
# *GPUs* to the right; the lanes show two iterations: who waits for whom? Move it to 1, too. Which method is the faster
# one there? (With one GPU the curves are over the number of unknowns.)

# %%
schedules = Schedules(like="h200", method="pipecg gpu")
schedules.turn(unknowns=3e7, entries=7, gpus=2)
schedules.unfolded()

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 8)

# %% [markdown]
# ## 6. If time is left: a processor and one GPU
#
# Tiwari and Vadhiyar use pipelined CG for another wait: that of the cores for the GPU. *Hybrid 1* copies $w$, $r$ and
# $u$ to the cores, which compute the dot products while the GPU multiplies. *Hybrid 2* lets the cores update these
# vectors too, and copies $n$ alone. *Hybrid 3* gives each side its own rows, so that both bandwidths count. With the
# sliders of a K20m, choose each as the method.

# %%
Schedules(like="k20m", method="hybrid3")

# %% [markdown]
# Two more questions for part 5: make the network ten times faster; from how many GPUs does pipelined CG pay then? And
# if a row has 125 entries?
#
# ## What you have learned
#
# - A dot product is a reduction: a few bytes, and a wait that grows with the number of processors.
# - Linearity, conjugate directions and orthogonal residuals make one reduction of two, with the same $x$.
# - Pipelined CG hides it behind both products, for five more vectors and their rounding errors (lesson 3).
# - On one GPU this costs time, on many it saves time; the order of lines decides how much.
#
# **Next steps** in the workbench; [lesson 7](7_many_at_once.ipynb) solves for many right-hand sides at once:

# %%
lesson.next_steps()
