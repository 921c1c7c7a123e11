// What the reader has chosen. Every change goes through `change`, which draws the page again.

const state = {
  facet: 0,
  metric: null,
  cost: "total",
  budget: null,
  filter: "",
  left: new Set(),
  a: null,
  b: null,
  sort: { key: "cost", down: false },
  by: "arm",
  scale: "tokens",
  order: { key: "difference", down: true },
  problems: "",
  shown: 30,
};

// What is drawn anew: everything, or only what a budget changes while its slider moves.
const drawn = [];
const drawnByBudget = new Set();

function change(changes = {}) {
  Object.assign(state, changes);
  hideTip();
  for (const draw of drawn) draw();
}

function changeBudget(budget) {
  state.budget = budget;
  for (const draw of drawn) if (drawnByBudget.has(draw)) draw();
}

function facetArms(facet = state.facet) {
  return d3.range(arms.length).filter((arm) => arms[arm].facet === facet);
}

// Words of the filter may stand anywhere in an arm's label, choices or folder.
function matches(words, ...texts) {
  const text = texts.join(" ").toLowerCase();
  return words
    .toLowerCase()
    .split(/\s+/)
    .every((word) => text.includes(word));
}

function listed(facet = state.facet) {
  return facetArms(facet).filter((arm) => {
    const choices = Object.entries(arms[arm].choices).flatMap(([name, value]) => [
      `${name} ${value}`,
    ]);
    return matches(state.filter, arms[arm].label, arms[arm].folder, ...choices);
  });
}

// Arms that take part: listed, not left out, and with at least one episode.
function taking(facet = state.facet) {
  return listed(facet).filter((arm) => !state.left.has(arm) && arms[arm].n);
}

function jointly(facet = state.facet) {
  const members = taking(facet);
  const extra = state.cost === "weighted" ? Object.values(weights).join(" ") : "";
  return remember(`joint ${members} ${state.metric} ${state.cost} ${extra}`, () =>
    together(members.filter(completed), state.metric, state.cost),
  );
}

function metricTitle() {
  return overview.titles[state.metric] ?? state.metric ?? "score";
}

function unit() {
  return COSTS[state.cost][1];
}

// An arm's score and cost with their intervals, on the arm's own problems. For the headline score
// and all tokens they are those of results.csv (BCa); for others they are made here (percentile).
function placed(arm) {
  const row = arms[arm];
  const own = (name) => ({ mean: row[name] ?? NaN });
  let score, cost;
  if (state.metric === row.metric) {
    score = { ...own("score"), low: row.score_low ?? NaN, high: row.score_high ?? NaN };
  } else {
    score = remember(`estimate ${arm} ${state.metric}`, () => alone(arm, state.metric));
  }
  if (state.cost === "total") {
    cost = { ...own("tokens_total"), low: row.tokens_low ?? NaN, high: row.tokens_high ?? NaN };
  } else {
    const key = `estimate cost ${arm} ${state.cost} ${Object.values(weights)}`;
    cost = remember(key, () => estimated([...costOf(arm, state.cost).values()]));
  }
  return { arm, score, cost };
}

// A score that is not the headline: Wilson's interval where it is right or wrong, once a problem.
function alone(arm, metric) {
  const values = [...scoreOf(arm, metric).values()];
  const single = values.length === index.arms[arm].p.length;
  const binary = overview.binary.includes(metric) && values.every((v) => v === 0 || v === 1);
  return single && binary && values.length > 1 ? wilson(values) : estimated(values);
}

// Whether an arm has an episode that did not fail: else it is on no front and best at no budget.
function completed(arm) {
  return arms[arm].errors < arms[arm].episodes;
}

function points() {
  return taking()
    .filter(completed)
    .map(placed)
    .filter(({ score, cost }) => Number.isFinite(score.mean) && Number.isFinite(cost.mean));
}

// Whether no other point is at most as dear and at least as good, and better in one of the two.
function onFront(point, all) {
  return !all.some(
    (other) =>
      other.cost.mean <= point.cost.mean &&
      other.score.mean >= point.score.mean &&
      (other.cost.mean < point.cost.mean || other.score.mean > point.score.mean),
  );
}

function interval({ mean, low, high }, format) {
  const middle = format(mean);
  return Number.isFinite(low) ? [middle, `${format(low)}–${format(high)}`] : [middle, ""];
}

// A coloured dot and the arm's name.
function named(arm) {
  return el(
    "span",
    { class: "arm" },
    el("span", { class: `dot series-${arms[arm].colour}`, "aria-hidden": "true" }),
    arms[arm].label,
  );
}

// What makes a score less than it seems, in words; empty where nothing does.
function conduct(arm) {
  const row = arms[arm];
  const said = [];
  const told = (value, words) => {
    if (value > 0) said.push(`${share(value)} ${words}`);
  };
  told(row.errors / row.episodes, "failed");
  told(row.no_answer, "no answer");
  told(row.truncated, "cut short");
  told(row.overflow, "context overflow");
  const sound = row.messages.ok ?? 0;
  const all = d3.sum(Object.values(row.messages));
  if (all > 0 && sound < all) said.push(`${share(1 - sound / all)} of messages off format`);
  if (row.missing) said.push(`${row.missing} missing`);
  return said;
}

// An arm that is hovered anywhere is marked everywhere.
function mark(arm) {
  for (const node of document.querySelectorAll("[data-arm]")) {
    node.classList.toggle("hot", arm !== null && node.dataset.arm === String(arm));
  }
}
