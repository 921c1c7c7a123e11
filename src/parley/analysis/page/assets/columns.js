// Columns of the table of arms: how each is read for sorting, and how it is shown.

// A share above which a reader is warned.
const BAD = 0.1;

function resultColumns() {
  return [
    ...nameColumns(),
    ...scoreColumns(),
    ...costColumns(),
    ...sureColumns(),
    ...conductColumns(),
  ];
}

function nameColumns() {
  const count = (arm) => arms[arm].n;
  return [
    { key: "arm", title: "arm", value: (arm) => arms[arm].label, cell: armCell, text: true },
    { key: "n", title: "n", hint: "problems", value: count, cell: (arm) => whole(count(arm)) },
  ];
}

function scoreColumns() {
  const metrics = overview.facets[state.facet]?.metrics ?? [];
  const others = metrics.filter((name) => name !== state.metric);
  return [
    {
      key: "score",
      title: `${metricTitle()} %`,
      hint: "mean, and its 95% interval over problems",
      value: (arm) => placed(arm).score.mean,
      cell: (arm) => estimateCell(placed(arm).score, percent),
    },
    ...others.map((name) => ({
      key: `score-${name}`,
      title: `${overview.titles[name] ?? name} %`,
      value: (arm) => average(scoreOf(arm, name)),
      cell: (arm) => percent(average(scoreOf(arm, name))),
    })),
  ];
}

function costColumns() {
  const others = ["total", "output", "uncached"].filter((cost) => cost !== state.cost);
  return [
    {
      key: "cost",
      title: unit(),
      hint: "per problem: mean, and its 95% interval",
      value: (arm) => placed(arm).cost.mean,
      cell: (arm) => estimateCell(placed(arm).cost, amount, arms[arm].estimated > 0),
    },
    ...others.map((cost) => ({
      key: cost,
      title: COSTS[cost][1].replace(" tokens", ""),
      hint: COSTS[cost][0],
      value: (arm) => average(costOf(arm, cost)),
      cell: (arm) => amount(average(costOf(arm, cost))),
    })),
  ];
}

// What the resamples say, of the arms that take part.
function sureColumns() {
  const joint = jointly();
  const best = readAt(joint, state.budget).chance;
  const key = `front ${joint.arms} ${state.metric} ${state.cost} ${Object.values(weights)}`;
  const front = remember(key, () => frontChances(joint));
  const of = (values) => (arm) => values[joint.arms.indexOf(arm)] ?? NaN;
  return [
    {
      key: "best",
      title: `best at ${amount(state.budget)}`,
      hint: "share of resamples in which it is the best within the budget",
      value: of(best),
      cell: (arm) => share(of(best)(arm)),
    },
    {
      key: "front",
      title: "on front",
      hint: "share of resamples in which no arm shown beats it on both axes",
      value: of(front),
      cell: (arm) => share(of(front)(arm)),
    },
  ];
}

// What stands beside a score so that it is read aright; the last two only where they occur.
function conductColumns() {
  const told = (key, title, hint, value) => ({
    key,
    title,
    hint,
    value: (arm) => value(arms[arm]) ?? NaN,
    cell: (arm) => warned(value(arms[arm])),
  });
  const columns = [
    told("no", "no answer", "episodes in whose text no answer was found", (row) => row.no_answer),
    told(
      "cut",
      "cut short",
      "episodes with a call that ended at the token limit",
      (row) => row.truncated,
    ),
    {
      ...told("off", "messages off format", "messages whose status is not ok", offFormat),
      cell: (arm) => offCell(arms[arm]),
    },
  ];
  const any = (name) => listed().some((arm) => arms[arm][name]);
  if (any("errors")) {
    columns.push(
      told("errors", "failed", "episodes that count with 0", (row) => row.errors / row.episodes),
    );
  }
  if (any("missing")) {
    columns.push({
      ...told("missing", "missing", "planned episodes without a record", (row) => row.missing),
      cell: (arm) => whole(arms[arm].missing),
    });
  }
  return columns;
}

function average(map) {
  return meanOf([...map.values()]);
}

function armCell(arm) {
  const included = el("input", {
    type: "checkbox",
    "aria-label": `${arms[arm].label} takes part`,
    disabled: !arms[arm].n,
    onchange: () => {
      state.left[state.left.has(arm) ? "delete" : "add"](arm);
      change();
    },
  });
  included.checked = Boolean(arms[arm].n) && !state.left.has(arm);
  const badge = arm === state.a ? "A" : arm === state.b ? "B" : null;
  const choices = Object.entries(arms[arm].choices)
    .map(([name, value]) => `${name}: ${value}`)
    .join("\n");
  return [
    included,
    el(
      "button",
      {
        type: "button",
        class: "link",
        title: `${choices}\n${arms[arm].folder}`,
        "aria-label": `${arms[arm].label}: compare it below`,
        onclick: () => pick(arm),
      },
      named(arm),
    ),
    ...(badge ? [" ", el("span", { class: "badge" }, badge)] : []),
    ...(arms[arm].run !== "finished"
      ? [" ", el("span", { class: "warn small" }, arms[arm].run)]
      : []),
  ];
}

function estimateCell(estimate, format, guessed = false) {
  const [middle, range] = interval(estimate, format);
  return [`${guessed ? "~" : ""}${middle} `, el("span", { class: "range" }, range)];
}

function warned(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  return value > BAD ? el("span", { class: "warn" }, share(value)) : share(value);
}

function offFormat(row) {
  const all = d3.sum(Object.values(row.messages));
  return all > 0 ? 1 - (row.messages.ok ?? 0) / all : NaN;
}

function offCell(row) {
  const told = Object.entries(row.messages)
    .map(([status, part]) => `${share(part)} ${status.replaceAll("_", " ")}`)
    .join(", ");
  return el("span", { title: told }, warned(offFormat(row)));
}
