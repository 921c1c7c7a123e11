// The shared problems of the two arms, those first on which arms disagree; each opens its transcript.

function spreadOf(place) {
  const values = taking()
    .map((arm) => scoreOf(arm, state.metric).get(place))
    .filter(Number.isFinite);
  return values.length ? d3.max(values) - d3.min(values) : NaN;
}

function problemColumns(pair) {
  const at = new Map(pair.places.map((place, i) => [place, i]));
  const of = (values) => (place) => values[at.get(place)];
  const gap = (place) => of(pair.scoreA)(place) - of(pair.scoreB)(place);
  const text = (key, value, cell = value) => ({ key, title: key, text: true, value, cell });
  const spanned = (key, value) =>
    text(key, value, (place) => el("span", { class: key }, value(place)));
  const number = (key, title, value, format) => ({
    key,
    title,
    value,
    cell: (place) => format(value(place)),
  });
  return [
    text("problem", (place) => index.id[place], problemLink),
    text("kind", (place) => index.kind[place]),
    spanned("question", (place) => index.question[place]),
    spanned("gold", (place) => index.gold[place]),
    number("a", "A %", of(pair.scoreA), percent),
    number("b", "B %", of(pair.scoreB), percent),
    {
      key: "difference",
      title: "A − B",
      hint: "sorted by its size",
      value: (place) => Math.abs(gap(place)),
      cell: (place) => signed(gap(place)),
    },
    number("costA", `A ${unit()}`, of(pair.costA), amount),
    number("costB", `B ${unit()}`, of(pair.costB), amount),
    { ...spanned("status", (place) => statusPair(pair, place)), title: "status A / B" },
    {
      key: "spread",
      title: "all arms",
      hint: "score of every arm that takes part; sorted by the spread",
      value: spreadOf,
      cell: strip,
    },
  ];
}

function statusPair(pair, place) {
  return `${statusOf(pair.a, place)} / ${statusOf(pair.b, place)}`;
}

// Words by which the filter finds a status of one side: "A:cut-short", "B:no-answer".
function statusWords(pair, place) {
  const of = (side, arm) =>
    statusOf(arm, place)
      .split(/, | · /)
      .map((said) => `${side}:${said.replace(/^\d+ /, "").replaceAll(" ", "-")}`);
  return [...of("A", pair.a), ...of("B", pair.b)].join(" ");
}

function problemLink(place) {
  if (index.block[place] < 0)
    return el("span", { title: "Its transcript is not in this page" }, index.id[place]);
  return el(
    "button",
    {
      type: "button",
      class: "link",
      "data-problem": place,
      onclick: (event) => openTranscript(place, event.currentTarget),
    },
    index.id[place],
  );
}

// One cell per arm: the fuller, the higher its score.
function strip(place) {
  const members = taking();
  const told = members
    .map((arm) => `${arms[arm].label} ${percent(scoreOf(arm, state.metric).get(place) ?? NaN, 0)}`)
    .join(", ");
  return el(
    "span",
    { class: "strip", role: "img", "aria-label": told, title: told },
    ...members.map((arm) => {
      const level = el("span", { class: `level series-${arms[arm].colour}` });
      level.style.height = `${100 * (scoreOf(arm, state.metric).get(place) || 0)}%`;
      return el("span", { class: "cell" }, level);
    }),
  );
}

function problemList() {
  const pair = pairNow();
  if (!pair) return { columns: [], places: [] };
  const columns = problemColumns(pair);
  const words = (place) =>
    [index.id, index.kind, index.question, index.gold].map((all) => all[place]);
  const wanted = (place) => matches(state.problems, ...words(place), statusPair(pair, place), statusWords(pair, place));
  const found = state.problems ? pair.places.filter(wanted) : pair.places;
  return { columns, places: sorted(found, columns, state.order) };
}

function problems() {
  const { columns, places } = problemList();
  choice(
    find("problem-order"),
    [
      ["difference", "A and B disagree most"],
      ["spread", "all arms disagree most"],
    ],
    state.order.key,
    (key) => change({ order: { key, down: true }, shown: 30 }),
  );
  const table = find("problem-table");
  const focused = table.contains(document.activeElement)
    ? document.activeElement.dataset.sort
    : null;
  const rows = places
    .slice(0, state.shown)
    .map((place) =>
      el(
        "tr",
        {},
        ...columns.map(({ cell, text }) =>
          el("td", { class: text ? null : "number" }, cell(place)),
        ),
      ),
    );
  fill(
    table,
    columns.length
      ? el(
          "thead",
          {},
          sortHead(columns, state.order, (order) => change({ order, shown: 30 })),
        )
      : null,
    el("tbody", {}, ...rows),
  );
  if (focused) table.querySelector(`[data-sort="${focused}"]`)?.focus();
  const held = overview.transcripts;
  const kept =
    held.held < held.of
      ? ` Transcripts of ${whole(held.held)} of ${whole(held.of)} problems are in this page: in turn the one on which arms differ most and one drawn at random, up to its limit of size.`
      : "";
  find("problem-count").textContent = `${plural(places.length, "problem")}.${kept}`;
  find("more").hidden = places.length <= state.shown;
  find("more").textContent = `Show ${Math.min(100, places.length - state.shown)} more`;
}

// Arrow keys walk through the list.
function walkProblems(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step || !event.target.dataset.problem) return;
  const links = [...find("problem-table").querySelectorAll("[data-problem]")];
  const next = links[links.indexOf(event.target) + step];
  if (!next) return;
  event.preventDefault();
  next.focus();
}

drawn.push(problems);
