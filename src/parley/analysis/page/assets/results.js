// The table of arms: sortable by every column; what is unticked takes no part anywhere.

const BAD = 0.1;

function resultColumns() {
  const facet = overview.facets[state.facet];
  const others = (facet?.metrics ?? []).filter((name) => name !== state.metric);
  const all = listed();
  const few = ["output", "uncached"].filter((cost) => cost !== state.cost);
  const extra = state.cost === "total" ? few : ["total", ...few];
  const joint = jointly();
  const read = readAt(joint, state.budget);
  const front = remember(
    `front ${joint.arms} ${state.metric} ${state.cost} ${Object.values(weights)}`,
    () => frontChances(joint),
  );
  const inJoint = (values) => (arm) => values[joint.arms.indexOf(arm)] ?? NaN;
  const any = (test) => all.some((arm) => test(arms[arm]));
  return [
    {
      key: "arm",
      title: "arm",
      value: (arm) => arms[arm].label,
      cell: (arm) => armCell(arm),
      text: true,
    },
    {
      key: "n",
      title: "n",
      hint: "problems",
      value: (arm) => arms[arm].n,
      cell: (arm) => whole(arms[arm].n),
    },
    {
      key: "score",
      title: `${metricTitle()} %`,
      hint: "mean, and its 95% interval over problems",
      value: (arm) => placed(arm).score.mean,
      cell: (arm) => estimateCell(placed(arm).score, percent),
    },
    ...others.map((name) => ({
      key: name,
      title: `${overview.titles[name] ?? name} %`,
      value: (arm) => average(scoreOf(arm, name)),
      cell: (arm) => percent(average(scoreOf(arm, name))),
    })),
    {
      key: "cost",
      title: unit(),
      hint: "per problem: mean, and its 95% interval",
      value: (arm) => placed(arm).cost.mean,
      cell: (arm) => estimateCell(placed(arm).cost, amount, arms[arm].estimated > 0),
    },
    ...extra.map((cost) => ({
      key: cost,
      title: COSTS[cost][1].replace(" tokens", ""),
      hint: COSTS[cost][0],
      value: (arm) => average(costOf(arm, cost)),
      cell: (arm) => amount(average(costOf(arm, cost))),
    })),
    {
      key: "best",
      title: `best at ${amount(state.budget)}`,
      hint: "share of resamples in which it is the best within the budget",
      value: inJoint(read.chance),
      cell: (arm) => share(inJoint(read.chance)(arm)),
    },
    {
      key: "front",
      title: "on front",
      hint: "share of resamples in which no arm shown beats it on both axes",
      value: inJoint(front),
      cell: (arm) => share(inJoint(front)(arm)),
    },
    {
      key: "no",
      title: "no answer",
      value: (arm) => arms[arm].no_answer ?? NaN,
      cell: (arm) => warned(arms[arm].no_answer),
    },
    {
      key: "cut",
      title: "cut short",
      hint: "episodes with a call that ended at the token limit",
      value: (arm) => arms[arm].truncated ?? NaN,
      cell: (arm) => warned(arms[arm].truncated),
    },
    {
      key: "off",
      title: "messages off format",
      hint: "messages whose status is not ok",
      value: (arm) => offFormat(arm),
      cell: (arm) => offCell(arm),
    },
    ...(any((row) => row.errors)
      ? [
          {
            key: "errors",
            title: "failed",
            value: (arm) => arms[arm].errors / arms[arm].episodes,
            cell: (arm) => warned(arms[arm].errors / arms[arm].episodes),
          },
        ]
      : []),
    ...(any((row) => row.missing)
      ? [
          {
            key: "missing",
            title: "missing",
            hint: "planned episodes without a record",
            value: (arm) => arms[arm].missing,
            cell: (arm) => whole(arms[arm].missing),
          },
        ]
      : []),
  ];
}

function average(map) {
  return map.size ? d3.mean(map.values()) : NaN;
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

function offFormat(arm) {
  const all = d3.sum(Object.values(arms[arm].messages));
  return all > 0 ? 1 - (arms[arm].messages.ok ?? 0) / all : NaN;
}

function offCell(arm) {
  const told = Object.entries(arms[arm].messages)
    .map(([status, part]) => `${share(part)} ${status.replaceAll("_", " ")}`)
    .join(", ");
  return el("span", { title: told }, warned(offFormat(arm)));
}

// A sortable head: a button in each cell, the order told to screen readers.
function sortHead(columns, sort, resort) {
  return el(
    "tr",
    {},
    ...columns.map(({ key, title, hint, text }) => {
      const active = sort.key === key;
      const arrow = active ? (sort.down ? " ▾" : " ▴") : "";
      return el(
        "th",
        {
          scope: "col",
          class: text ? null : "number",
          "aria-sort": active ? (sort.down ? "descending" : "ascending") : null,
        },
        el(
          "button",
          {
            type: "button",
            title: hint ?? null,
            "data-sort": key,
            onclick: () => resort({ key, down: active ? !sort.down : !text }),
          },
          title + arrow,
        ),
      );
    }),
  );
}

function sorted(items, columns, sort) {
  const chosen = columns.find(({ key }) => key === sort.key) ?? columns[0];
  const order = sort.down ? d3.descending : d3.ascending;
  return d3.sort(items, (one, two) => {
    const [first, second] = [chosen.value(one), chosen.value(two)];
    const gaps = Number.isNaN(first) - Number.isNaN(second);
    return gaps || order(first, second);
  });
}

function results() {
  const columns = resultColumns();
  const table = find("results-table");
  const focused = document.activeElement?.dataset?.sort;
  const rows = sorted(listed(), columns, state.sort).map((arm) =>
    el(
      "tr",
      {
        "data-arm": arm,
        class: state.left.has(arm) || !arms[arm].n ? "out" : null,
        onmouseenter: () => mark(arm),
        onmouseleave: () => mark(null),
      },
      ...columns.map(({ cell, text }) =>
        el(
          text ? "th" : "td",
          text ? { scope: "row" } : { class: "number" },
          ...[cell(arm)].flat().filter(Boolean),
        ),
      ),
    ),
  );
  fill(
    table,
    el(
      "thead",
      {},
      sortHead(columns, state.sort, (sort) => change({ sort })),
    ),
    el("tbody", {}, ...rows),
  );
  if (focused && table.contains(table.querySelector(`[data-sort="${focused}"]`)))
    table.querySelector(`[data-sort="${focused}"]`).focus();
  fill(
    find("results-key"),
    rows.length
      ? "Tick arms to take part in everything on this page; click two to compare them. "
      : "No arm matches the filter. ",
    "A failed episode counts with 0. ",
    listed().some((arm) => arms[arm].estimated) ? "~ partly estimated. " : "",
  );
}

drawn.push(results);
drawnByBudget.add(results);
