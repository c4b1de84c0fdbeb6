# %% [markdown]
# # Waiting
#
# *Lesson 6, 45 minutes.* **How does pipelined CG follow from CG, and what is it good for?**
#
# You need CG with a preconditioner, $u = M^{-1}r$ ([lesson 4](4_preconditioning.ipynb)), and what it means that
# directions are conjugate ([lesson 1](1_without_pain.ipynb)). Products are written as in the stepper: $(u, v) = u^Tv$.
#
# On many processors each has some rows of $A$ and of every vector. An update such as $r \leftarrow r - \alpha s$
# needs nothing of the others, the product $Ap$ some entries of neighbours. A dot product needs all of them: every
# processor adds up its rows, and a *reduction* (all-reduce) adds these sums and sends the result to all. It moves a few
# bytes, so it costs *latency* alone, and that grows with the number of processors while the work of each shrinks.

# %%
from workbench.live import Lesson, MoveLines, Schedules, StepView, TimelineView
from workbench.records import typical_iterations
from workbench.run import Run, configure, run_through

# %% [markdown]
# ## 1. Where CG waits
#
# Step through an iteration: press *Next line*. $\delta = (p, Ap)$ must be known to everyone before $r$ changes, and
# $\gamma = (r, u)$ before $p$ does. So the **two reductions follow one another**, and almost nothing is left to be done
# meanwhile: of the vectors only $x$ needs no $\gamma$. ($\|u\|^2$ and $\|r\|^2$ are for the stop test, and travel with
# $\gamma$.)

# %%
lesson = Lesson("waiting")
StepView("cg", "two-layer", n=8)

# %% [markdown]
# ## 2. On this machine no sum is waited for
#
# CG and pipelined CG for 9216 unknowns, measured here: three iterations in a row, those whose time is the median of the
# run. Bars are kernels; in the gaps the program prepares the next one. All sums are made in one memory, so there is
# nothing to hide, and pipelined CG has more to do: it updates five more vectors. Point at a bar: what does it do, and
# to which line does it belong?

# %%
runs = [run_through(Run(configure("two-layer", n=96, solver=solver), trace=True)) for solver in ("cg", "pipecg")]
TimelineView([typical_iterations(run.trace) for run in runs], title=["CG", "Pipelined CG"])

# %% [markdown]
# ## 3. From CG to one reduction
#
# Every $x$ stays the same, in exact arithmetic. Three facts are used.
#
# - **A is linear.** With $p_{\mathrm{new}} = u + \beta p$ and $s = Ap$:
#   $\;s_{\mathrm{new}} = Au + \beta s = w + \beta s$, where $w = Au$.
# - **Directions are conjugate:** $(p_{\mathrm{new}}, Ap) = 0$. So
#   $\delta = (p_{\mathrm{new}}, s_{\mathrm{new}}) = (u, s_{\mathrm{new}}) = (u, w) + \beta (u, s)$.
# - **Residuals are orthogonal in $M^{-1}$.** $r$ is orthogonal to all directions before, and $M^{-1}$ times the
#   residual before, $r_{\mathrm{old}} = r + \alpha s$, is a sum of these, so $(u, r_{\mathrm{old}}) = 0$ and
#   $(u, s) = \big((u, r_{\mathrm{old}}) - (u, r)\big)/\alpha = -\gamma/\alpha$.
#
# Together, with $\omega = (u, w)$:
#
# $$\delta = \omega - \beta\,\gamma/\alpha .$$
#
# Neither of $\omega$ and $\gamma$ needs the other, so **one** wait is left: the method of Chronopoulos and Gear (1989).
#
# Below is the same, one change at a time: the lines before the change on the left, after it on the right, with the
# value of each line in iteration 3. The lanes are **modelled**, nothing of them was measured: 4096 GPUs share 30
# million unknowns, 7 entries a row; bytes, and the bandwidths and latencies of an H200 and of its connections, some of
# them assumed, give the times. Pale grey is waiting, and the *exchange of rows* brings what $A$ needs from neighbours.
# (It is long: more than ten GPUs share a plane of the grid.)
#
# Press *Next change* up to number 6. Then move lines on the right yourself, by dragging or with the arrows: after every
# move both methods run, and the page shows where they first differ. *Undo moves* brings the lines back.

# %%
MoveLines("pipelined")

# %% [markdown]
# Now without looking. The field takes lines as code writes them, Greek letters by their names, and each dot product on
# a line of its own. They are run, and not compared with a stored answer.

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

# %% [markdown] tags=["solution"]
# $(p, s)$ needs $p$, and $p$ needs $\gamma$. $\omega - \beta\gamma/\alpha$ needs sums of $u$ and $r$ alone, which are
# there at the end of the iteration before, and $A$ is applied there once.

# %% [markdown]
# ## 4. Work in place of waiting
#
# One reduction is left, and the next lines need it. But a processor may compute while its sums travel, if there is
# something to compute that does not need them: *overlap*. So the products are made of vectors that are known before.
# Since $u = M^{-1}r$,
#
# $$\begin{aligned}
# u_{\mathrm{new}} &= u - \alpha q, & q_{\mathrm{new}} &= M^{-1}s_{\mathrm{new}} = m + \beta q, & m &= M^{-1}w, \\
# w_{\mathrm{new}} &= w - \alpha z, & z_{\mathrm{new}} &= Aq_{\mathrm{new}} = n + \beta z, & n &= Am.
# \end{aligned}$$
#
# $m$ and $n$ need $w$, not $\gamma$ or $\omega$: both products hide the reduction. This is *pipelined CG* (Ghysels
# and Vanroose 2014). The price is five more vectors to update, and rounding errors in five more recurrences. In the
# picture above, changes 7 and 8 are these. W. Gropp's CG (2010) stops earlier: two reductions, one next to $M$ and one
# next to $A$. Its first three changes are those above:

# %%
MoveLines("Gropp", change=4)

# %% [markdown]
# $M$ is Jacobi in the lanes, which is computed in a pass with other lines, so it hides little.
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

# %% [markdown] tags=["solution"]
# The sums stand in front of $m = M^{-1}w$ and $n = Am$, which need none of them, and $\beta$, which does, behind both.

# %% [markdown]
# ## 5. One GPU, 4096 GPUs
#
# The sliders are a machine, here one with two GPUs. The curves are strong scaling, modelled: the same system on 1 to
# 4096 GPUs. Where a curve rises, more GPUs cost more latency, in sums and at the right end in the exchange of rows,
# than they save work. Below *Several GPUs* move the slider *GPUs* to the right; the lanes show two iterations: who
# waits for whom? Move it to 1, too. Which method is the faster one there? (With one GPU the curves are over the number
# of unknowns.) If time is left, divide *latency in a node* by ten: from how many GPUs on does pipelined CG pay then?

# %%
schedules = Schedules(like="h200", method="pipecg gpu")
schedules.turn(unknowns=3e7, entries=7, gpus=2)
schedules.unfolded()

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 8)

# %% [markdown] tags=["solution"]
# Five more vectors cost each GPU its share of their bytes, an eighth on 8 GPUs. CG waits there for two all-reduces of
# $3 \cdot 5$ µs. With a latency of 0.5 µs in a node pipelined CG pays from 16 GPUs on, where a second node takes part.

# %% [markdown]
# ## 6. If time is left: a processor and one GPU
#
# Tiwari and Vadhiyar use pipelined CG for another wait: that of the cores for the GPU. *Hybrid 1* copies $w$, $r$ and
# $u$ to the cores while the GPU multiplies, and the cores compute the dot products. *Hybrid 2* lets the cores update
# these vectors too, and copies $n$ alone. *Hybrid 3* gives each side its own rows, so that both bandwidths count; $A_1$
# has the columns of the own rows, $A_2$ the others. With the sliders of a K20m, choose each as the method.

# %%
Schedules(like="k20m", method="hybrid3")

# %% [markdown]
# ## What you have learned
#
# - A dot product is a reduction: a few bytes, and a wait that grows with the number of processors.
# - Linearity, conjugate directions and orthogonal residuals make one reduction of two, with the same $x$.
# - Pipelined CG hides it behind both products, for five more vectors and their rounding errors (lesson 3).
# - For 30 million unknowns on one GPU this costs time, on 8 and more it saves time; the order of lines decides how
#   much.
#
# **Next steps** in the workbench; [lesson 7](7_many_at_once.ipynb) solves for many right-hand sides at once:

# %%
lesson.next_steps()
