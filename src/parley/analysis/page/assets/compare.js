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
  fill(find("paired"), ...pairedWords(pair));
  differences(pair);
}

function pairedWords(pair) {
  const { places, scoreA, scoreB, costA, costB, means } = pair;
  const [a, b] = [named(pair.a), named(pair.b)];
  const n = places.length;
  const gap = d3.mean(scoreA) - d3.mean(scoreB);
  const { low, high, better } = difference(means[0], means[1]);
  const wins = chance(scoreA, (value, i) => value > scoreB[i]) * n;
  const losses = chance(scoreA, (value, i) => value < scoreB[i]) * n;
  const ratio = bounds(means[2].map((value, i) => value / means[3][i]));
  const range = n > 1 ? ` (95%: ${signed(low)} to ${signed(high)})` : "";
  const each = Array.from(costA, (value, i) => value / costB[i]);
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
    el(
      "p",
      {},
      `A costs ${d3.format(".2f")(d3.mean(costA) / d3.mean(costB))} × B in ${unit()}` +
        (n > 1 ? ` (95%: ${d3.format(".2f")(ratio[0])}–${d3.format(".2f")(ratio[1])})` : "") +
        `, as a ratio of means: ${amount(d3.mean(costA))} against ${amount(d3.mean(costB))}; ` +
        `as a mean of ratios ${d3.format(".2f")(d3.mean(each))}.`,
    ),
    conductLine(pair),
  ];
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
  const order = d3.sort(d3.range(pair.places.length), (i) => pair.scoreB[i] - pair.scoreA[i]);
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
