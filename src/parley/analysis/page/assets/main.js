// Starts the page: what stands still first, then the numbers, then what the link asks for.

const READING = [
  "Scores and costs are means over problems; the samples of a problem are averaged first. A failed episode counts with 0.",
  "Intervals hold 95% of a bootstrap over problems. Those of the headline score and of all tokens are the ones in results.csv (BCa); those of other scores and costs, and of differences, are percentiles of resamples made in this page, paired by problem, with a fixed seed.",
  "“Best at a budget” asks, in each resample, which arm has the highest mean score among those whose mean cost is within the budget. It speaks of problems like these, of this model and these prompts, and of nothing else.",
  "A cost of an episode is the sum over all its calls. Cached tokens are those that the server's prefix cache gave; they depend on when and where calls ran. Reused calls count no seconds.",
  "Published is what a strategy lets others read; private reasoning and discarded text cost once, published text again each time it is re-read.",
  "Text of models and data sets is shown as it was written, with control characters made visible. Nothing in it is ever run.",
];

function broken(error) {
  const place = find("broken");
  place.textContent =
    typeof DecompressionStream === "undefined"
      ? "This browser cannot unpack the page's data: one of 2023 or later can. results.md beside it holds the tables."
      : `The page's data cannot be read: ${error.message}`;
  place.hidden = false;
}

function head() {
  find("study").textContent = overview.study;
  const episodes = d3.sum(arms, ({ episodes }) => episodes);
  find("settings").textContent = [
    overview.settings,
    plural(arms.length, "arm"),
    plural(episodes, "episode"),
  ]
    .filter(Boolean)
    .join(" · ");
  const notes = find("notes");
  notes.hidden = !overview.notes.length;
  notes.open = overview.notes.length <= 3;
  fill(
    notes.querySelector("summary"),
    `${plural(overview.notes.length, "note")} on what limits these numbers`,
  );
  fill(notes.querySelector("ul"), ...overview.notes.map((note) => el("li", {}, note)));
  fill(find("method-list"), ...READING.map((line) => el("li", {}, line)));
}

function controls() {
  const facet = overview.facets[state.facet];
  options(
    find("facet"),
    overview.facets.map(({ benchmark, model }, i) => [i, `${benchmark} · ${model}`]),
    state.facet,
  );
  find("facet-field").hidden = overview.facets.length < 2;
  options(
    find("metric"),
    (facet?.metrics ?? []).map((name) => [name, overview.titles[name] ?? name]),
    state.metric,
  );
  options(
    find("cost"),
    Object.entries(COSTS).map(([name, [title]]) => [name, title]),
    state.cost,
  );
  find("weights").hidden = state.cost !== "weighted";
  if (document.activeElement !== find("budget-number"))
    find("budget-number").value = Number(state.budget.toPrecision(4));
}

// A budget in the middle of things: 3,000 tokens where arms lie on both sides, else halfway.
function usualBudget() {
  const spent = points().map(({ cost }) => cost.mean);
  const [low, high] = [d3.min(spent) ?? 0, d3.max(spent) ?? 1];
  if (state.cost === "total" && low <= 3000 && high >= 3000) return 3000;
  const middle = (low + high) / 2;
  const round = Number(middle.toPrecision(2));
  return (round < low ? Math.ceil(middle) : round) || high;
}

// The facet's headline score; the two arms: the best at the budget, and the next best.
function begin(facet) {
  Object.assign(state, { facet, metric: overview.facets[facet]?.metrics[0] ?? null });
  state.budget = usualBudget();
  const joint = jointly();
  const scored = joint.n ? readAt(joint, Infinity).order.map((i) => joint.arms[i]) : [];
  const within = joint.n ? readAt(joint, state.budget).order.map((i) => joint.arms[i]) : [];
  const all = [
    ...new Set([...within.slice(0, 1), ...scored, ...facetArms().filter((arm) => arms[arm].n)]),
  ];
  Object.assign(state, { a: all[0] ?? null, b: all[1] ?? null, shown: 30 });
}

function listen() {
  const on = (id, event, act) => find(id).addEventListener(event, act);
  on("controls", "submit", (event) => event.preventDefault());
  on("facet", "change", (event) => {
    begin(Number(event.target.value));
    change();
  });
  on("metric", "change", (event) => change({ metric: event.target.value }));
  on("cost", "change", (event) => {
    state.cost = event.target.value;
    change({ budget: usualBudget() });
  });
  on("filter", "input", (event) => change({ filter: event.target.value.trim() }));
  for (const name of Object.keys(weights)) {
    on(`weight-${name}`, "input", (event) => {
      weights[name] = Math.max(0, event.target.valueAsNumber || 0);
      change({ budget: usualBudget() });
    });
  }
  on("slider", "input", (event) => changeBudget(Number(event.target.valueAsNumber.toPrecision(3))));
  on("budget-number", "input", (event) => {
    if (event.target.valueAsNumber >= 0) changeBudget(event.target.valueAsNumber);
  });
  on("arm-a", "change", (event) => change({ a: Number(event.target.value), shown: 30 }));
  on("arm-b", "change", (event) => change({ b: Number(event.target.value), shown: 30 }));
  on("swap", "click", () => change({ a: state.b, b: state.a }));
  on("problem-filter", "input", (event) =>
    change({ problems: event.target.value.trim(), shown: 30 }),
  );
  on("problem-table", "keydown", walkProblems);
  on("more", "click", () => change({ shown: state.shown + 100 }));
  on("transcript", "keydown", transcriptKeys);
  on("transcript", "close", closedTranscript);
  addEventListener("hashchange", follow);
  addEventListener("scroll", hideTip, { passive: true });
  let width = innerWidth;
  addEventListener("resize", () => {
    if (innerWidth !== width) {
      width = innerWidth;
      change();
    }
  });
}

// #problem=...&a=folder&b=folder&sample=0 opens that transcript.
function follow() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (!asked.has("problem")) return;
  const place = index.id.findIndex(
    (id, i) =>
      id === asked.get("problem") &&
      (!asked.get("benchmark") || index.benchmark[i] === asked.get("benchmark")),
  );
  const [a, b] = ["a", "b"].map((side) =>
    arms.findIndex(({ folder }) => folder === asked.get(side)),
  );
  if (place < 0) return;
  if (a >= 0 && arms[a].facet !== state.facet) begin(arms[a].facet);
  change({ ...(a >= 0 && { a }), ...(b >= 0 && { b }) });
  const sample = Number(asked.get("sample"));
  openTranscript(place).then(() => {
    if (sample) {
      reader.sample = sample;
      showTranscript();
    }
  });
}

async function start() {
  head();
  await loadIndex();
  drawn.unshift(controls);
  drawnByBudget.add(controls);
  begin(0);
  listen();
  change();
  follow();
  document.documentElement.dataset.ready = "yes";
}

start().catch((error) => {
  broken(error);
  throw error;
});
