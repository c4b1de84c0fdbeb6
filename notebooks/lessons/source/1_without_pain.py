# %% [markdown]
# # CG without pain
#
# Why does CG need two steps where steepest descent needs many? 45 minutes.

# %%
from workbench.live import Lesson
lesson = Lesson("without-pain")

# %% tags=["exercise"]
lesson.check(1)

# %% tags=["solution"]
lesson.check(1, 2)

# %% [markdown] tags=["solution"]
# Each step makes the residual orthogonal to all before it, and in two dimensions there are no more than two of those.

# %% [markdown]
# **What to try next.** ...
