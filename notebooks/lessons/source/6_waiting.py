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
from workbench.extensions.lessons.waiting import measured
from workbench.live import Lesson, MoveLines, Schedules, StepView, TimelineView

# %% [markdown]
# ## 1. Where CG waits
#
# Step through an iteration: press *Next line*. Every processor needs $\delta = (p, Ap)$ before $r$ changes, and
# $\gamma = (r, u)$ before $p$ does. So the **two reductions follow one another**. Almost nothing is left to be done
# meanwhile: while $\delta$ travels no vector can change, since $\alpha = \gamma/\delta$ is missing, and while $\gamma$
# travels only $x$ can. ($\|u\|^2$ and $\|r\|^2$ are for the stop test, and travel with $\gamma$.)

# %%
lesson = Lesson("waiting")
StepView("cg", "two-layer", n=8)

# %% [markdown]
# ## 2. On this machine no sum is waited for
#
# CG and pipelined CG, the method of section 4, for 65,536 unknowns, measured here: the fastest of five runs each, and
# of it three iterations in a row, those whose time is the median. Bars are kernels; in the gaps the program prepares
# the next one.
#
# All sums are made in one memory, so there is no waiting to hide. Pipelined CG is slower here, since it has more to do:
# the product with $A$ is the same work, but its other lines read and write 15 vectors, and those of CG 10. Compare the
# bars: which of them are longer? The sentence below has the measured times, and those of the kernels alone, as gaps
# vary from run to run. (The thin bar is $\beta$, one division; on a GPU the next kernel does it.) Point at a bar: which
# lines does it compute? The table then lists the kernels of this method. ($A p$ has $(p, s)$ with it, and $M^{-1}r$ is
# computed twice, which for Jacobi is cheaper than to store $u$.)

# %%
TimelineView(measured("cg", "pipecg"), title=["CG", "Pipelined CG"])

# %% [markdown]
# ## 3. From CG to one reduction
#
# Every $x$ stays the same, in exact arithmetic. Three facts are used.
#
# - **A is linear.** With $p_{\mathrm{new}} = u + \beta p$ and $s = Ap$:
#   $\;s_{\mathrm{new}} = Au + \beta s = w + \beta s$, where $w = Au$.
# - **Directions are conjugate:** $(p_{\mathrm{new}}, Ap) = 0$. So
#   $\delta = (p_{\mathrm{new}}, s_{\mathrm{new}}) = (u, s_{\mathrm{new}}) = (u, w) + \beta (u, s)$.
# - **Residuals are orthogonal in $M^{-1}$:** $(u, r_{\mathrm{old}}) = (r, M^{-1}r_{\mathrm{old}}) = 0$, with the
#   residual before, $r_{\mathrm{old}} = r + \alpha s$. The reason: $M^{-1}r_{\mathrm{old}}$ is a sum of directions
#   before, and $r$ is orthogonal to each of them. So
#   $(u, s) = \big((u, r_{\mathrm{old}}) - (u, r)\big)/\alpha = -\gamma/\alpha$.
#
# Together, with $\omega = (u, w)$:
#
# $$\delta = \omega - \beta\,\gamma/\alpha .$$
#
# Neither of $\omega$ and $\gamma$ needs the other, so **one** wait is left: the method of Chronopoulos and Gear (1989).
#
# Below is the same, one change at a time: the lines before the change on the left, after it on the right. Behind a line
# is its value in iteration 4, computed for a small system.
#
# The lanes are **modelled**, nothing of them was measured: iterations 4 and 5 on 4096 GPUs, which share 30 million
# unknowns with 7 entries a row. Bytes, and the bandwidths and latencies of an H200 and of its connections, some of them
# assumed, give the times. The *exchange of rows* brings what $A$ needs from neighbours. (It is long: more than ten GPUs
# share a plane of the grid.) Pale grey is waiting. GPUs 1 and 4096 exchange rows with one side alone, so they are ready
# earlier, and wait for the others too. The sentence below the lines counts the waiting of GPU 2049, which is for sums
# alone.
#
# Neighbouring lines are *fused* into one kernel, as long as none needs a sum of that kernel. The kernel of $w = Au$ has
# $u$ and $w$, so it can compute $(u, w)$ and $(u, u)$ too, but not $(r, u)$. All sums of a kernel are one message, sent
# at its end; those of two kernels are two messages, one after the other.
#
# Press *Next change* up to number 6, and watch that sentence. Change 3 makes an iteration longer, since $s$ is updated
# by a kernel of its own, whose start takes 18 µs; change 6 saves a kernel again. After change 4 no sum needs another,
# but they still start at different times, so two are waited for. From change 5 on one of them travels while $A$ works,
# as a message of its own; other programs send both together behind $w = Au$. Then move lines on the right yourself, by
# dragging or with the arrows. After every move both methods run, and the page shows where they first differ. *Undo
# moves* brings the lines back.

# %%
MoveLines("pipelined")

# %% [markdown]
# Now without looking. The field takes lines as code writes them, and each dot product on a line of its own: $\gamma$
# is `gamma`, $\gamma_{k-1}$ is `previous`, $\|u\|^2$ is `uu`, and $M^{-1}r$ is `M(r)`. They are run, and not compared
# with a stored answer.

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
# something to compute that does not need them: *overlap*. The two products are work enough, but $u = M^{-1}r$ and
# $w = Au$ are needed *for* the sums. So $u$ and $w$ are updated, as $r$ is, with four vectors more:
#
# - $q = M^{-1}s$ is what $u$ loses. Since $u = M^{-1}r$ and $r_{\mathrm{new}} = r - \alpha s$:
#   $\;u_{\mathrm{new}} = u - \alpha q$.
# - $m = M^{-1}w$ updates $q$. Since $s_{\mathrm{new}} = w + \beta s$: $\;q_{\mathrm{new}} = m + \beta q$.
# - $z = Aq$ is what $w$ loses. Since $w = Au$: $\;w_{\mathrm{new}} = w - \alpha z$.
# - $n = Am$ updates $z$. Since $q_{\mathrm{new}} = m + \beta q$: $\;z_{\mathrm{new}} = n + \beta z$.
#
# $m$ and $n$ are the two products now. They need $w$, not $\gamma$ or $\omega$, so both hide the reduction. This is
# *pipelined CG* (Ghysels and Vanroose 2014). In the picture above change 7 brings $q$ and $m$, and change 8 $z$ and
# $n$. The price is five more vectors to update than in CG ($s$, $q$, $z$, $u$ and $w$), each with rounding errors of
# its own. (With Jacobi, as in all pictures here, $u$ and $m$ are computed in the same pass, and $q$ is not needed. Then
# three more vectors are updated, and all lines but the product move 15 vectors in place of 10.)
#
# W. Gropp's CG (2010) keeps two reductions: $M$ hides the first one, and $A$ the second. Its first three changes are
# those above, so the picture begins with the fourth:

# %%
MoveLines("Gropp", change=4)

# %% [markdown]
# $M$ is Jacobi in the lanes, which is computed in a pass with other lines, so it hides little.
#
# **Order matters too.** A kernel is one pass over memory, and its sums are sent at its end. So the same correct lines
# can be in an order in which no work overlaps a sum.

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
# It is enough to move $n$, since Jacobi's $m$ is computed in the same pass as the sums.

# %% [markdown]
# ## 5. One GPU, 4096 GPUs
#
# The sliders are a machine, here one with two GPUs. The curves are *strong scaling*, modelled: the same system on 1 to
# 4096 GPUs. Where a curve rises, more GPUs cost more latency than they save work: latency of sums, and at the right end
# of the exchange of rows. The lanes show two iterations.
#
# 1. Look at the curves first: where is CG the faster method, and where pipelined CG?
# 2. Below *Several GPUs* move the slider *GPUs* to the right, and look at the lanes: who waits for whom?
# 3. Move it to 1: the curves are now over the number of unknowns. Which method is the faster one for 30 million, and
#    why? Below about two million it is the other one: pipelined CG starts two kernels in an iteration, CG three.
# 4. After exercise 3, if time is left: divide *latency in a node* by ten. From how many GPUs on does pipelined CG pay
#    then?

# %%
schedules = Schedules(like="h200", method="pipecg gpu")
schedules.turn(unknowns=3e7, entries=7, gpus=2)
schedules.unfolded()

# %% tags=["exercise"]
lesson.check(3)

# %% tags=["solution"]
lesson.check(3, 8)

# %% [markdown] tags=["solution"]
# On 8 GPUs each moves its eighth of 15 − 10 = 5 more vectors, 37 µs. It starts one kernel less, 18 µs, and does not
# wait for two all-reduces of $3 \cdot 5$ µs, as CG does: this saves 48 µs. On 4 GPUs the vectors cost 74 µs, and 38 µs
# are saved. With a latency of 0.5 µs in a node pipelined CG pays from 16 GPUs on, where a second node takes part.

# %% [markdown]
# ## 6. If time is left: a processor and one GPU
#
# Tiwari and Vadhiyar use pipelined CG for another wait: that of the cores for the GPU.
#
# - *Hybrid 1* copies $w$, $r$ and $u$ to the cores while the GPU multiplies, and the cores compute the dot products.
# - *Hybrid 2* lets the cores update these vectors too, and copies $n$ alone.
# - *Hybrid 3* gives each side, cores and GPU, its own rows, so that both bandwidths count. The product $n = Am$ has two
#   parts: $v = A_1m$ takes the columns of a side's own rows, while the other side's part of $m$ is copied. Then
#   $n = v + A_2m$ adds the other columns (in the lanes $A_2v$).
#
# The sliders are those of a machine with a K20m. Choose each method under *lanes of*: how long is an iteration, and
# which part of its copies is hidden?

# %%
Schedules(like="k20m", method="hybrid3")

# %% [markdown]
# ## What you have learned
#
# - A dot product is a reduction: a few bytes, and a wait that grows with the number of processors.
# - Linearity, conjugate directions and orthogonal residuals make one reduction of two, with the same $x$.
# - Pipelined CG hides it behind both products, for five more vectors and their rounding errors (lesson 3).
# - On one GPU this costs time for large systems; for small ones it saves the start of a kernel. On many it saves time,
#   as soon as waits and that start cost more than the five vectors; the order of lines decides how much.
#
# **Next steps** in the workbench; [lesson 7](7_many_at_once.ipynb) solves for many right-hand sides at once:

# %%
lesson.next_steps()
