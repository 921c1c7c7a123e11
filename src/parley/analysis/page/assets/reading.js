// The answer in words: which arm at this budget, its score, and how sure that is.

function verdict() {
  const joint = jointly();
  const read = readAt(joint, state.budget);
  find("budget-unit").textContent = unit();
  const place = find("verdict");
  if (!joint.arms.length || !joint.n) {
    return fill(
      place,
      el(
        "p",
        { class: "warn" },
        joint.arms.length
          ? "The arms shown have no problem in common."
          : "No arm shown has a score yet.",
      ),
    );
  }
  if (!read.order.length) {
    const least = joint.arms[d3.minIndex(joint.cost)];
    return fill(
      place,
      el(
        "p",
        {},
        "No arm shown is that cheap. The cheapest is ",
        named(least),
        ` at ${amount(d3.min(joint.cost))} ${unit()}.`,
      ),
    );
  }
  const best = read.order[0];
  const arm = joint.arms[best];
  const point = placed(arm);
  const [score, range] = interval(point.score, percent);
  const [cost] = interval(point.cost, amount);
  fill(
    place,
    el("p", { class: "use" }, "Use ", named(arm)),
    el(
      "p",
      { class: "score" },
      el("strong", {}, `${score}%`),
      ` ${metricTitle()}`,
      range ? el("span", { class: "soft" }, `  95%: ${range}`) : null,
    ),
    el("p", {}, `for ${cost} ${unit()} a problem`, onShared(joint, best), odd(arm)),
    ...sureness(joint, read),
    chances(joint, read),
    el("p", { class: "soft small" }, basis(joint)),
  );
}

// Where arms hold different problems, what is compared is not the arm's own mean.
function onShared(joint, best) {
  const arm = joint.arms[best];
  if (joint.n === arms[arm].n) return "";
  return ` (on the ${plural(joint.n, "shared problem")} ${percent(joint.score[best])}% for ${amount(joint.cost[best])})`;
}

function odd(arm) {
  const said = conduct(arm);
  return said.length ? el("span", { class: "warn" }, ` · ${said.join(", ")}`) : null;
}

// How far the best arm is told from the runner-up, in one word.
function certainty(joint, read) {
  const [best, second] = read.order;
  const sure = read.chance[best];
  const gap = difference(joint.scores[best], joint.scores[second]);
  const enough = joint.n >= overview.small;
  const word = sure >= 0.95 && gap.low > 0 && enough ? "Clear" : sure >= 0.8 ? "Likely, not certain" : "Open";
  return { gap, word };
}

// The best arm against the runner-up, in words that promise no more than the data do.
function sureness(joint, read) {
  const [best, second] = read.order;
  if (joint.n < 2) return [el("p", { class: "warn" }, "One problem says nothing about others.")];
  if (second === undefined) {
    return [el("p", {}, "It is the only arm that cheap.")];
  }
  const { gap, word } = certainty(joint, read);
  const points = `${signed(joint.score[best] - joint.score[second])} points (95%: ${signed(gap.low)} to ${signed(gap.high)})`;
  const meaning = {
    Clear: "the data tell it from every other arm shown.",
    "Likely, not certain": "other problems could turn the order.",
    Open: "these problems do not tell the best arms apart.",
  }[word];
  return [
    el("p", {}, el("strong", { class: word === "Clear" ? "accent" : "" }, `${word}: `), meaning),
    el("p", {}, "Against the next best, ", named(joint.arms[second]), `: ${points}.`),
  ];
}

// How often each arm is the best within the budget, as bars.
function chances(joint, read) {
  const rows = d3
    .range(joint.arms.length)
    .filter((i) => read.chance[i] >= 0.005)
    .sort((i, j) => read.chance[j] - read.chance[i])
    .map((i) => chanceRow(named(joint.arms[i]), read.chance[i], arms[joint.arms[i]].colour));
  if (read.none >= 0.005) rows.push(chanceRow("none is that cheap", read.none, null));
  return el(
    "table",
    { class: "chances" },
    el("caption", {}, "How often each is the best at this budget"),
    ...rows,
  );
}

function chanceRow(name, value, colour) {
  const bar = el("span", { class: `bar ${colour === null ? "none" : `series-${colour}`}` });
  bar.style.width = `${Math.max(1, 100 * value)}%`;
  return el(
    "tr",
    {},
    el("th", { scope: "row" }, name),
    el("td", { class: "track" }, bar),
    el("td", { class: "number" }, share(value)),
  );
}

function basis(joint) {
  const few = joint.n < overview.small ? " Few problems: intervals are rough." : "";
  return (
    `${plural(joint.rounds, "bootstrap resample")} of the ${plural(joint.n, "problem")} that all ` +
    `${joint.arms.length} arms share, drawn alike for all; an arm is within the budget if its mean is.${few}` +
    leftOut(joint)
  );
}

// Arms that would leave the others few problems take no part, and are named.
function leftOut(joint) {
  const out = taking().filter((arm) => completed(arm) && !joint.arms.includes(arm));
  if (!out.length) return "";
  const names = out.map((arm) => arms[arm].label).join(", ");
  return ` Without ${names}: too few of the same problems, or no such score or cost on some.`;
}

drawn.push(verdict);
drawnByBudget.add(verdict);
