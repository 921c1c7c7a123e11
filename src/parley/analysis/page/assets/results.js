// The table of arms: sortable by every column; what is unticked takes no part anywhere.

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
