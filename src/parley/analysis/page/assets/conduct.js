// What went wrong in each arm, beside its score: the darker a cell, the larger the share.

function conductTable() {
  const members = sorted(
    listed().filter((arm) => arms[arm].n),
    resultColumns(),
    state.sort,
  );
  const all = overview.troubles.map((trouble, i) => ({ ...trouble, i }));
  const met = all
    .filter(({ i }) => members.some((arm) => arms[arm].troubles[i] > 0))
    .map((trouble, at, found) => ({
      ...trouble,
      begins: trouble.about === found[at - 1]?.about ? "" : "first",
    }));
  const groups = d3.groups(met, ({ about }) => about);
  const titles = { episodes: "of episodes", messages: "of messages", compared: "of those compared" };
  find("conduct").hidden = !members.length;
  const head = el(
    "thead",
    {},
    el(
      "tr",
      { class: "groups" },
      el("td", { colspan: 2 }),
      ...groups.map(([about, found]) =>
        el("th", { scope: "colgroup", class: "first", colspan: found.length }, titles[about]),
      ),
    ),
    el(
      "tr",
      {},
      el("th", { scope: "col" }, "arm"),
      el("th", { scope: "col", class: "number" }, `${metricTitle()} %`),
      ...met.map(({ name, hint, begins }) =>
        el("th", { scope: "col", class: `number ${begins}`, title: hint }, name),
      ),
    ),
  );
  fill(
    find("conduct-table"),
    met.length ? head : null,
    el("tbody", {}, ...(met.length ? members.map((arm) => conductRow(arm, met)) : [])),
  );
  fill(find("conduct-note"), conductWords(met, all));
  fill(
    find("conduct-hints"),
    ...all.map(({ name, hint }) => el("li", {}, el("strong", {}, name), `: ${hint}`)),
  );
}

function conductRow(arm, met) {
  return el(
    "tr",
    {
      "data-arm": arm,
      onmouseenter: () => mark(arm),
      onmouseleave: () => mark(null),
    },
    el("th", { scope: "row" }, named(arm)),
    el("td", { class: "number" }, el("strong", {}, percent(placed(arm).score.mean))),
    ...met.map((trouble) => troubleCell(arm, trouble)),
  );
}

function troubleCell(arm, { word, i, begins }) {
  const part = arms[arm].troubles[i];
  const said = part === null ? "–" : share(part);
  const cell = el("td", { class: `number heat ${begins}` });
  if (part > 0) cell.style.setProperty("--heat", `${Math.round(12 + 43 * part)}%`);
  cell.append(
    part > 0
      ? el(
          "button",
          {
            type: "button",
            class: "link",
            title: "list these problems below",
            onclick: () => listTrouble(arm, word),
          },
          said,
        )
      : said,
  );
  return cell;
}

// The arm as A, and in the list only the problems on which it went wrong so.
function listTrouble(arm, word) {
  const problems = `A:${word}`;
  find("problem-filter").value = problems;
  const b = state.a === arm ? state.b : state.a;
  change({ a: arm, b, problems, shown: 30 });
  find("compare").scrollIntoView();
  find("problem-filter").focus({ preventScroll: true });
}

function conductWords(met, all) {
  if (!met.length) return "Nothing: no episode failed or was cut short, and every message is on format.";
  const rest = all.filter(({ i }) => !met.some((other) => other.i === i) && known(i));
  const never = rest.length ? ` Never met: ${rest.map(({ name }) => name).join(", ")}.` : "";
  return `Click a share to list its problems.${never}`;
}

function known(trouble) {
  return listed().some((arm) => arms[arm].troubles[trouble] !== null);
}

drawn.push(conductTable);
