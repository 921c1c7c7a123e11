# ---
# jupyter:
#   jupytext:
#     formats: ipynb,py:percent
#     text_representation:
#       extension: .py
#       format_name: percent
#   kernelspec:
#     display_name: Python 3
#     language: python
#     name: python3
# ---

# %% [markdown]
# # What happened where two arms disagree?
#
# Two arms with the same mean may fail on different problems. This notebook finds the two that are
# furthest apart, the problems on which they are, and sets both conversations beside each other. It
# runs no model and changes no file.

# %%
from IPython.display import display
from rich.console import Console

from parley.analysis import conduct, conduct_plots, disagreement, disagreement_plots
from parley.analysis.beside import beside
from parley.analysis.frames import tidy
from parley.analysis.opening import open_study

# %matplotlib inline

# %% [markdown]
# Name another study here, such as `outputs/mine`, the folder of one arm, or a folder of studies. A
# relative folder is looked for upwards from here, then in Parley's own checkout.

# %% tags=["parameters"]
FOLDER = "study/demo"

# %%
study = open_study(FOLDER)
print(study.summary)
for note in study.notes:
    print("note:", note)

# %% [markdown]
# ## What went wrong, by arm
#
# Before reading a conversation: an arm whose outputs are cut short, or whose messages are off
# format, is not a worse idea, but a worse run. Read each share beside its arm's score. `disagreed`:
# the agents end with different answers.

# %%
display(conduct_plots.draw(study.rows, study.flows))
display(conduct.table(study.rows, study.flows).round(2))

# %% [markdown]
# ## Which two arms
#
# The two whose scores differ most, problem by problem, among arms of one benchmark and model. Put
# other names of the table above in `FIRST` and `SECOND`.

# %%
furthest = next((pair for pair in disagreement.pairs(study) if pair.n), None)
FIRST = furthest.first if furthest else next(iter(study.with_episodes()), None)
SECOND = furthest.second if furthest else None

if furthest:
    print(
        f"{FIRST} and {SECOND} differ on {furthest.won + furthest.lost} of {furthest.n} problems."
    )
    display(disagreement_plots.matrix(disagreement.pairs(study, among=FIRST), study.names))
else:
    print("There are no two arms of one benchmark and model to compare.")

# %% [markdown]
# ## On which problems
#
# The widest difference first: what each of the two scored, what was read as its answer, and its
# status.

# %%
rows = disagreement.between(study, FIRST, SECOND) if SECOND else []
if rows:
    display(disagreement_plots.gaps(rows, FIRST, SECOND))
    display(tidy(rows[:12]).round(2).set_index("problem"))

# %% [markdown]
# ## Both conversations
#
# Turns of the same number stand side by side; what was published is green: the other agent never
# sees more. Put another problem's id in `PROBLEM`. `parley show` with the arm's folder and
# `--episode` has one conversation in full, with the evidence; the report's page has them all.

# %%
held = [name for name in (FIRST, SECOND) if name]
PROBLEM = (
    rows[0]["problem"] if rows else min((p for n in held for p in study.episodes(n)), default="")
)

episodes = disagreement.conversations(study, PROBLEM, held)
if episodes:
    Console(width=150).print(beside(episodes, width=150))
else:
    print("No arm has an episode that can be read.")
