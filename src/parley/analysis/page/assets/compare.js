// Two arms on the problems they share: the difference, its interval, and each problem's own.

function pick(arm) {
  if (arm === state.a) return change();
  change({ b: state.a, a: arm, shown: 30 });
}

function pairNow() {
  const { a, b, metric, cost } = state;
  if (a === null || b === null) return null;
  const extra = Object.values(weights).join(" ");
  return remember(`pair ${a} ${b} ${metric} ${cost} ${extra}`, () => {
    const places = common([scoreOf(a, metric), scoreOf(b, metric)]);
    const take = (map) => column(map, places);
    const [scoreA, scoreB] = [take(scoreOf(a, metric)), take(scoreOf(b, metric))];
    const [costA, costB] = [take(costOf(a, cost)), take(costOf(b, cost))];
    return {
      a,
      b,
      places,
      scoreA,
      scoreB,
      costA,
      costB,
      means: resampled([scoreA, scoreB, costA, costB]),
    };
  });
}

function compare() {
  const members = facetArms().filter((arm) => arms[arm].n);
  const pairs = members.map((arm) => [arm, arms[arm].label]);
  options(find("arm-a"), pairs, state.a);
  options(find("arm-b"), pairs, state.b);
  const pair = pairNow();
  if (!pair || !pair.places.length) {
    fill(
      find("paired"),
      el(
        "p",
        { class: "soft" },
        pair ? "These two have no problem in common." : "There are no two arms to compare.",
      ),
    );
    fill(find("differences"));
    return;
  }
  const lacking = lackingWords(pair);
  fill(find("paired"), ...(lacking ? [lacking, conductLine(pair)] : pairedWords(pair)));
  differences(pair);
}

function pairedWords(pair) {
  const { places, scoreA, scoreB, means } = pair;
  const [a, b] = [named(pair.a), named(pair.b)];
  const n = places.length;
  const gap = d3.mean(scoreA) - d3.mean(scoreB);
  const { low, high, better } = difference(means[0], means[1]);
  const wins = chance(scoreA, (value, i) => value > scoreB[i]) * n;
  const losses = chance(scoreA, (value, i) => value < scoreB[i]) * n;
  const range = n > 1 ? ` (95%: ${signed(low)} to ${signed(high)})` : "";
  const away = low > 0 || high < 0;
  return [
    el(
      "p",
      {},
      metricTitle(),
      ": ",
      a,
      " ",
      el("strong", {}, `${percent(d3.mean(scoreA))}%`),
      ", ",
      b,
      " ",
      el("strong", {}, `${percent(d3.mean(scoreB))}%`),
      `; A − B = ${signed(gap)} points${range}. `,
      el(
        "strong",
        { class: away ? "accent" : "" },
        n < 2 || d3.max(scoreA, (value, i) => Math.abs(value - scoreB[i])) === 0
          ? "No difference to measure."
          : away
            ? "The interval leaves out 0."
            : "The interval includes 0.",
      ),
      n > 1 ? ` A is the better one in ${share(better)} of resamples.` : "",
    ),
    el(
      "p",
      {},
      `Of ${plural(n, "shared problem")}, A is better on ${Math.round(wins)}, worse on ${Math.round(losses)}, alike on ${n - Math.round(wins) - Math.round(losses)}.`,
      unshared(pair),
    ),
    el("p", {}, costWords(pair)),
    conductLine(pair),
  ];
}

function costWords({ costA, costB, means }) {
  const [one, two] = [d3.mean(costA), d3.mean(costB)];
  if (!(two > 0 && Number.isFinite(one / two)))
    return `A costs ${amount(one)} ${unit()}, B ${amount(two)}: there is no ratio of the two.`;
  const times = d3.format(".2f");
  const [low, high] = bounds(means[2].map((value, i) => value / means[3][i]));
  const range =
    costA.length > 1 && Number.isFinite(low) && Number.isFinite(high)
      ? ` (95%: ${times(low)}–${times(high)})`
      : "";
  const each = d3.mean(Array.from(costA, (value, i) => value / costB[i]));
  const mean = Number.isFinite(each) ? `; as a mean of ratios ${times(each)}` : "";
  return `A costs ${times(one / two)} × B in ${unit()}${range}, as a ratio of means: ${amount(one)} against ${amount(two)}${mean}.`;
}

// Scores that are no numbers: an arm has no mean then, here as in the tables.
function lackingWords({ a, b, places, scoreA, scoreB }) {
  const lacking = [
    [a, scoreA],
    [b, scoreB],
  ]
    .map(([arm, values]) => [arm, values.filter(Number.isNaN).length])
    .filter(([, count]) => count);
  if (!lacking.length) return null;
  const told = lacking.flatMap(([arm, count], i) => [i ? "; " : "", named(arm), ` ${count}`]);
  return el(
    "p",
    { class: "warn" },
    `${metricTitle()} is not a number on some of the ${plural(places.length, "shared problem")}, so there is no mean to compare: `,
    ...told,
    ". The list below has the others.",
  );
}

function unshared({ a, b, places }) {
  const [onlyA, onlyB] = [a, b].map((arm) => scoreOf(arm, state.metric).size - places.length);
  return onlyA || onlyB
    ? el(
        "span",
        { class: "warn" },
        ` Left out: ${onlyA} that only A has, ${onlyB} that only B has.`,
      )
    : null;
}

function conductLine({ a, b }) {
  const told = [
    [a, "A"],
    [b, "B"],
  ]
    .map(([arm, name]) => [name, conduct(arm).join(", ")])
    .filter(([, said]) => said);
  return told.length
    ? el("p", { class: "warn small" }, told.map(([name, said]) => `${name}: ${said}`).join(".  "))
    : null;
}

// One bar per problem, sorted: how far and on how many the two arms differ.
function differences(pair) {
  const known = (i) => Number.isFinite(pair.scoreA[i] - pair.scoreB[i]);
  const order = d3.sort(
    d3.range(pair.places.length).filter(known),
    (i) => pair.scoreB[i] - pair.scoreA[i],
  );
  if (!order.length) return fill(find("differences"));
  const high = 150;
  const left = 46;
  const { svg, wide } = canvas(
    find("differences"),
    high,
    "Difference in score on every shared problem, sorted; the list below has the numbers",
  );
  const x = d3.scaleLinear([0, order.length], [left, wide - 18]);
  const gaps = order.map((i) => 100 * (pair.scoreA[i] - pair.scoreB[i]));
  const reach = d3.max(gaps, Math.abs) || 1;
  const y = d3.scaleLinear([-reach, reach], [high - 8, 18]);
  across(svg, y, left, wide - 18, y.ticks(4));
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).ticks(4).tickSize(0).tickPadding(8).tickFormat(d3.format("+")))
    .select(".domain")
    .remove();
  svg
    .append("text")
    .attr("class", "title")
    .attr("x", left)
    .attr("y", 10)
    .text(`A − B in points of ${metricTitle()}, every shared problem: click one to read it`);
  const thick = x(1) - x(0);
  svg
    .append("g")
    .selectAll("rect")
    .data(gaps)
    .join("rect")
    .attr("class", (gap) => `filled series-${arms[gap >= 0 ? pair.a : pair.b].colour}`)
    .attr("x", (_, i) => x(i) + (thick > 3 ? 0.5 : 0))
    .attr("width", Math.max(0.6, thick > 3 ? thick - 1 : thick))
    .attr("y", (gap) => Math.min(y(gap), y(0)) - (gap === 0 ? 1 : 0))
    .attr("height", (gap) => Math.abs(y(gap) - y(0)) || 2);
  const near = (event) =>
    Math.min(order.length - 1, Math.max(0, Math.floor(x.invert(d3.pointer(event)[0]))));
  svg
    .append("rect")
    .attr("class", "catch")
    .attr("x", left)
    .attr("y", 14)
    .attr("width", wide - 18 - left)
    .attr("height", high - 14)
    .on("mousemove", (event) => {
      const i = order[near(event)];
      showTip(
        { left: event.clientX, width: 0, top: event.clientY, bottom: event.clientY + 8 },
        ...problemTip(pair, i),
      );
    })
    .on("mouseleave", hideTip)
    .on("click", (event) => openTranscript(pair.places[order[near(event)]], event.currentTarget));
}

function problemTip(pair, i) {
  return [
    el("strong", {}, index.id[pair.places[i]]),
    el("p", {}, index.question[pair.places[i]]),
    tipRows([
      ["A", `${percent(pair.scoreA[i])}%`],
      ["B", `${percent(pair.scoreB[i])}%`],
    ]),
  ];
}

drawn.push(compare);
