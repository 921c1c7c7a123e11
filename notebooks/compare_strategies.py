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
# # What should one agent send another?
#
# Reads the records of one study and shows what each communication strategy scored, what it cost,
# where its tokens went, and one conversation. It runs no model and changes no file.
#
# The study stored beside this notebook is six strategies on a few built-in two-hop questions,
# answered by the packaged model of **135 million parameters**. Its scores show that the instrument
# works; they say nothing about larger models, and so few problems would not separate the arms of
# any.

# %%
from IPython.display import display
from rich.console import Console

from parley.analysis import disagreement, frontier, token_bars
from parley.analysis.frames import tidy
from parley.analysis.opening import open_study
from parley.analysis.terminal import to_rich
from parley.analysis.transcript import inert, render

# %matplotlib inline

# %% [markdown]
# Name another study here, such as `outputs/mine`, the folder of one arm, or a folder of studies. A
# relative folder is looked for upwards from here, then in Parley's own checkout.

# %% tags=["parameters"]
FOLDER = "study/demo"

# %%
study = open_study(FOLDER)
console = Console(width=132)
print(study.summary)

# %% [markdown]
# ## Results
#
# One row per arm, cheapest first. Scores are percentages with a 95% bootstrap interval over
# problems; tokens are means per problem, prompt and completion of all calls. The three `prompt`
# columns are what was read: the fixed text, the agent's own evidence, and messages of earlier turns
# read again. The `compl.` columns are what was written: reasoning kept private, text published to
# the other agent, and the rest. ● marks the Pareto front. Read the notes: they say what limits the
# comparison. `study.table` holds every column of `results.csv`.

# %%
console.print(to_rich(study.table, width=console.width))
for note in study.notes:
    print("note:", note)

# %% [markdown]
# ## Quality against cost
#
# Up is better, left is cheaper. A filled point is on the front: no other arm is both at most as
# dear and at least as good. The bars are the intervals of score and cost: with few problems they
# are wide, and the picture says so; an order of points whose bars overlap may be chance.

# %%
display(frontier.draw(study.rows))

# %% [markdown]
# ## Where the tokens went
#
# One bar per arm, in the order of the table: first what was read, then what was written. A
# strategy acts on *re-read messages* and *published*, and pays for it in *instructions* and
# *examples*, which explain its format. *Question* and *evidence* are alike in all arms that make
# the same number of calls.

# %%
display(token_bars.draw(study.rows))

# %% [markdown]
# ## Problems on which the arms disagree
#
# The mean of an arm hides which problems it solves. Each row is a problem that some arms solve
# better than others, the widest gap first; the numbers are the arms' headline metric, in [0, 1]. A
# failed episode counts as 0.

# %%
problems = disagreement.by_problem(study)
split = [row for row in problems if row["gap"] > 0]
print(f"The arms disagree on {len(split)} of {len(problems)} problems.")
if split:
    display(tidy(split).round(2).set_index("problem"))

# %% [markdown]
# What each arm answered to the first of them (or, where they agree on all, to the first problem),
# and the gold answer.

# %%
PROBLEM = problems[0]["problem"] if problems else ""

episodes = disagreement.conversations(study, PROBLEM, study.names)
for episode in list(episodes.values())[:1]:
    print(inert(f"{episode['question']}\ngold: {' | '.join(episode['answers'])}"))
if episodes:
    answered = [
        {"arm": name, "answered": (episode["score"] or {}).get("extracted")}
        for name, episode in episodes.items()
    ]
    display(tidy(answered).set_index("arm"))

# %% [markdown]
# ## One conversation
#
# That problem, in the arm that reads the most of earlier messages. For each turn: what it heard,
# what was generated, and what of that was published (green): the other agent never sees more. Put
# another name of the table above in `ARM`.

# %%
reread = {name: row["tokens_reread"] for name, row in zip(study.names, study.rows, strict=True)}
ARM = max(episodes, key=lambda name: reread[name], default=None)

if ARM is not None:
    console.print(render(episodes[ARM], width=110, full=True))
