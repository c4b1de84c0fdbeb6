# %% [markdown]
# # Waiting
#
# **Question:** how does pipelined CG follow from CG, and what is it good for? 45 minutes. You know CG with a
# preconditioner, $u = M^{-1}r$, and what it means that directions are conjugate.
#
# On many processors each has some rows of $A$ and of every vector. An update such as $r \leftarrow r - \alpha s$
# needs nothing of the others, the product $Ap$ a few entries of neighbours. A dot product needs all of them: every
# processor adds up its rows, and a *reduction* adds these sums and tells everyone. It moves a few bytes, so it costs
# *latency* alone, and that grows with the number of processors while the work of each shrinks.

# %%
from workbench.live import Lesson, MoveLines, Schedules, StepView, TimelineView
from workbench.run import Run, configure, run_through
lesson = Lesson("waiting")

# %% [markdown]
# ## Where CG waits
#
# Step through an iteration: press *Next line*. $\delta = (p, Ap)$ must be known to everyone before $r$ changes, and
# $\gamma = (r, u)$ before $p$ does. Everything after a sum is made of it, so the **two reductions follow one
# another**, and nothing is left to be done meanwhile.

# %%
StepView("cg", "two-layer", n=8)

# %% [markdown]
# ## On this machine there is no waiting
#
# CG and pipelined CG here, measured: bars are kernels. All sums are made in one memory, so there is nothing to hide,
# and pipelined CG has more to do: it updates five more vectors. (What else this machine does at the same time makes
# single bars long.) Zoom in with the wheel until single iterations are apart. Point at a bar: what does it do, and to
# which line does it belong?

# %%
both = [configure("two-layer", n=96, solver=solver) for solver in ("cg", "pipecg")]
TimelineView([run_through(Run(each, trace=True)) for each in both])

# %% [markdown]
# ## From CG to one reduction
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
# $\omega$ and $\gamma$ need $u$ alone, so they are summed in **one** reduction: the method of Chronopoulos and Gear
# (1989).
#
# Below is the same, one change at a time: CG before the change at the left, after it at the right, with what every
# line gives in iteration 3. Press *Next change* up to number 6. Then move lines at the right yourself, by dragging or
# with the arrows: after every move both methods run, and the page shows where they first differ. *Undo moves*
# brings the lines back.

# %%
MoveLines("pipelined")

# %% [markdown]
# Now without looking. The field takes lines as code writes them, Greek letters by their names; they are run, and not
# compared with ours.

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
# ## Work in place of waiting
#
# One reduction is left, and the next lines need it. But a processor may compute while its sums travel, if there is
# something to compute that does not need them: *overlap*. So the products are made of vectors that are known before.
# Since $u = M^{-1}r$,
#
# $$u_{new} = u - \alpha q,\quad q = M^{-1}s = m + \beta q,\quad m = M^{-1}w; \qquad
# w_{new} = w - \alpha z,\quad z = Aq = n + \beta z,\quad n = Am.$$
#
# $m$ and $n$ need $w$, not $\gamma$ or $\omega$: both products hide the reduction. This is *pipelined CG* (Ghysels
# and Vanroose 2014). The price is five more vectors to update, and rounding errors in five more recurrences. In the
# cell above, changes 7 and 8 are these. W. Gropp's CG (2010) stops earlier: two reductions, one next to $M$ and one
# next to $A$. It has five changes:

# %%
MoveLines("Gropp")

# %% [markdown]
# The lanes are **modelled**, nothing of them was measured. Each of 4096 GPUs has its share of 30 million unknowns, 7
# entries a row; bytes, and the bandwidths and latencies of an H200 and of its connections, some of them assumed, give
# the times. Pale grey is waiting. $M$ is Jacobi there, which is part of a pass over memory and hides little.
#
# **Order matters too.** Neighbouring lines are *fused* into one pass over memory as long as none needs a sum of that
# pass, and a sum starts where its line stands. Lines that are right may be in an order that hides nothing.

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
# ## One GPU, 4096 GPUs
#
# The sliders are a machine: begin with one GPU, where CG is the faster one, and move *GPUs* to the right. The curves
# are strong scaling, modelled: the same system on ever more GPUs. Where a curve turns up, more GPUs cost more latency
# than they save work. The lanes show two iterations: who waits for whom?

# %%
schedules = Schedules(like="h200", method="pipecg gpu")
schedules.turn(unknowns=3e7, entries=7, gpus=1)
schedules.box

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 8)

# %% [markdown]
# ## A processor and one GPU
#
# Tiwari and Vadhiyar use pipelined CG for another wait: that of the cores for the GPU. *Hybrid 1* copies $w$, $r$ and
# $u$ to the cores, which compute the dot products while the GPU multiplies. *Hybrid 2* lets the cores update these
# vectors too, and copies $n$ alone. *Hybrid 3* gives each side its own rows, so that both bandwidths count. With the
# sliders of a K20m, choose each as the method.

# %%
Schedules(like="k20m", method="hybrid3")

# %% [markdown]
# **What to try next.** Make the network ten times faster in the schedules above: from how many GPUs does pipelined CG
# pay then? What if a row has 125 entries? `MoveLines("pipelined")`: which lines of change 8 may be anywhere, which
# nowhere else? Lesson 3 shows what the additional recurrences lose: `StepView("pipecg")`, and
# `Stepper("cg", "pipecg")` of `workbench.live`. Notebook `04_pipelined_and_hybrid` runs the hybrid schedules where
# there is a GPU.
