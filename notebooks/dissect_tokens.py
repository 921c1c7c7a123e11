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
# # Where do the tokens go?
#
# Takes one study apart: what each arm's agents read and wrote, how their prompts grow, what they
# make each other read again, and what a prefix cache saved. It runs no model and changes no file.
#
# The study stored beside this notebook was answered by a model of **135 million parameters** with
# three worked examples in every prompt: its prompts are mostly examples. With `shots=0`, as in the
# paper, the same strategies look otherwise.

# %%
from IPython.display import display

from parley.analysis import flow_plots, token_bars, token_tables
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
# ## The ledger
#
# One bar per arm, cheapest first: what was read (greys and blues), then what was written. The table
# has the same parts as shares of all tokens; `read` is the whole prompt's. If reading is nearly
# everything, what a strategy publishes matters for how often it is read again, not for writing it.

# %%
display(token_bars.draw(study.rows))
display(token_tables.parts(study.rows).round(2))

# %% [markdown]
# ## How prompts grow, and what a prefix cache serves
#
# Left: the mean prompt of each turn. A steep line is a strategy whose messages pile up. Right, and
# in the table: the share of prompt tokens that the engine's prefix cache served, against the share
# that a cache which forgets nothing could have served. `missed` is the difference in tokens per
# problem: what another order of calls, more cache or one server less could still save.

# %%
display(flow_plots.growth(study.flows, study.rows))
display(token_tables.caching(study.rows, study.flows).round(2))

# %% [markdown]
# ## Who makes whom read what again
#
# Readers down, writers across, tokens per problem. A message is counted each time it is read: one
# that three later turns hear costs three times what it cost to publish.

# %%
display(flow_plots.rereading(study.flows, study.rows))

# %% [markdown]
# ## One arm, turn by turn
#
# Means per turn of the arm that rereads the most, asks included. Put another name of the tables
# above in `ARM`.

# %%
reread = {name: row["tokens_reread"] for name, row in zip(study.names, study.rows, strict=True)}
ARM = max(study.with_episodes(), key=lambda name: reread[name], default=None)

if ARM is None:
    print("No arm has an episode that can be read.")
else:
    print(ARM)
    display(token_tables.turns(study.records(ARM)).round(0))
