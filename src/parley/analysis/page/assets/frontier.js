// Score against cost. The budget is the vertical line; its slider lies under the same scale.

const FRONTIER = { top: 12, right: 18, bottom: 42, left: 46, high: 380 };

function budgetScale(wide, all) {
  const values = all.flatMap(({ cost }) =>
    [cost.mean, cost.low, cost.high].filter(Number.isFinite),
  );
  return d3.scaleLinear(limits(values, 0.18), [FRONTIER.left, wide - FRONTIER.right]);
}

function scoreScale(all) {
  const values = all.flatMap(({ score }) => [score.mean, score.low, score.high]);
  const edges = values.filter(Number.isFinite).map((value) => 100 * value);
  const [low, high] = limits(edges, 0.12);
  const { top, bottom } = FRONTIER;
  return d3.scaleLinear([low, Math.min(104, Math.max(10, high))], [FRONTIER.high - bottom, top]);
}

function scoreAxis(svg, y, edge) {
  const { top, left } = FRONTIER;
  const ticks = y.ticks(6).filter((tick) => tick <= 100);
  across(svg, y, left, edge, ticks);
  const axis = d3.axisLeft(y).tickValues(ticks).tickSize(0).tickPadding(8);
  const group = svg.append("g").attr("class", "axis").attr("transform", `translate(${left},0)`);
  group.call(axis).select(".domain").remove();
  const title = svg.append("text").attr("class", "title").text(`${metricTitle()}, %`);
  title.attr("x", left + 6).attr("y", top + 4);
}

function frontier() {
  const all = points();
  const { top, bottom, left, right, high } = FRONTIER;
  const { svg, wide } = canvas(
    find("frontier"),
    high,
    `${metricTitle()} against ${unit()}; the table of results has the numbers`,
  );
  const x = budgetScale(wide, all);
  const y = scoreScale(all);
  scoreAxis(svg, y, wide - right);
  bottomAxis(svg, x, high - bottom, `${COSTS[state.cost][0]}, per problem`, wide - right);
  if (!all.length) {
    svg
      .append("text")
      .attr("x", wide / 2)
      .attr("y", high / 2)
      .attr("text-anchor", "middle")
      .text("No arm has a point yet.");
  }
  frontLine(svg, all, x, y, wide - right);
  budgetLine(svg, x, top, high - bottom);
  const marks = svg.append("g").attr("class", "points");
  const labels = all.map((point) => drawPoint(marks, point, all, x, y));
  const spans = all.flatMap((point) => whiskers(point, x, y));
  const steps = frontSteps(all, x, y, wide - right);
  const at = budgetAt(x);
  const lines = [...spans, ...steps, [at, high - bottom, at, top]].map((line) => ({
    left: line[0] - 1,
    right: line[2] + 1,
    top: line[3] - 1,
    bottom: line[1] + 1,
  }));
  placeLabels(svg, labels, { left, right: wide - 2, top, bottom: high - bottom }, lines);
  slide(x);
  const lost = taking().filter((arm) => !all.some((point) => point.arm === arm));
  const cut = [x.domain()[0] > 0 && "cost", y.domain()[0] > 0 && "score"].filter(Boolean);
  fill(
    find("frontier-key"),
    "● on the front  ○ off it  ┄ best score for at most that cost. Bars: 95% intervals over problems. ",
    cut.length ? `The axis of ${cut.join(" and ")} does not start at 0. ` : null,
    "Click an arm to ",
    el("a", { href: "#compare" }, "compare it below"),
    ". ",
    lost.length
      ? el(
          "span",
          { class: "warn" },
          `Without a point, since a mean is missing: ${lost.map((arm) => arms[arm].label).join(", ")}.`,
        )
      : null,
  );
}

function whiskers({ score, cost }, x, y) {
  const lines = [];
  const [middle, level] = [x(cost.mean), y(100 * score.mean)];
  if (Number.isFinite(cost.low)) lines.push([x(cost.low), level, x(cost.high), level]);
  if (Number.isFinite(score.low))
    lines.push([middle, y(100 * score.low), middle, y(100 * score.high)]);
  return lines;
}

function drawPoint(marks, point, all, x, y) {
  const { arm, score, cost } = point;
  const [at, level] = [x(cost.mean), y(100 * score.mean)];
  const group = marks
    .append("g")
    .attr("class", `point series-${arms[arm].colour}`)
    .attr("data-arm", arm)
    .attr("tabindex", 0)
    .attr("role", "button")
    .attr(
      "aria-label",
      `${arms[arm].label}: ${percent(score.mean)}% at ${amount(cost.mean)} ${unit()}. Compare it below.`,
    );
  group
    .selectAll("line")
    .data(whiskers(point, x, y))
    .join("line")
    .attr("x1", (line) => line[0])
    .attr("y1", (line) => line[1])
    .attr("x2", (line) => line[2])
    .attr("y2", (line) => line[3]);
  group
    .append("circle")
    .attr("cx", at)
    .attr("cy", level)
    .attr("r", 6)
    .attr("class", onFront(point, all) ? "filled" : "hollow");
  const text = group.append("text").attr("class", "label").text(arms[arm].label);
  const show = (event) => {
    mark(arm);
    showTip(group.select("circle").node(), ...pointTip(point));
    event.stopPropagation();
  };
  group
    .on("mouseenter", show)
    .on("focus", show)
    .on("mouseleave blur", () => {
      mark(null);
      hideTip();
    })
    .on("click", () => pick(arm))
    .on("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        pick(arm);
      }
    });
  return { x: at, y: level, node: text.node() };
}

function pointTip({ arm, score, cost }) {
  const said = conduct(arm);
  return [
    el("strong", {}, arms[arm].label),
    tipRows([
      [metricTitle(), interval(score, percent).filter(Boolean).join("  95%: ")],
      [unit(), interval(cost, amount).filter(Boolean).join("  95%: ")],
      ["problems", whole(arms[arm].n)],
    ]),
    said.length ? el("p", { class: "warn" }, said.join(", ")) : null,
  ].filter(Boolean);
}

// Corners of the best score to be had for at most so much, out to the right edge: level pieces
// and rises, as left, bottom, right, top.
function frontSteps(all, x, y, edge) {
  const front = d3
    .sort(
      all.filter((point) => onFront(point, all)),
      ({ cost }) => cost.mean,
    )
    .map(({ cost, score }) => [x(cost.mean), y(100 * score.mean)]);
  return front.flatMap(([left, level], i) => {
    const [right, above] = front[i + 1] ?? [edge, level];
    return [
      [left, level, right, level],
      [right, level, right, above],
    ];
  });
}

function frontLine(svg, all, x, y, edge) {
  const steps = frontSteps(all, x, y, edge);
  if (!steps.length) return;
  svg
    .append("path")
    .attr("class", "front")
    .attr(
      "d",
      d3.line()([[steps[0][0], steps[0][1]], ...steps.map(([, , right, top]) => [right, top])]),
    );
}

function budgetAt(x) {
  return Math.min(Math.max(x(state.budget), x.range()[0]), x.range()[1]);
}

function budgetLine(svg, x, top, bottom) {
  const at = budgetAt(x);
  svg
    .append("line")
    .attr("class", "budget")
    .attr("x1", at)
    .attr("x2", at)
    .attr("y1", top)
    .attr("y2", bottom);
  svg
    .append("rect")
    .attr("class", "beyond")
    .attr("x", at)
    .attr("y", top)
    .attr("width", Math.max(0, x.range()[1] - at))
    .attr("height", bottom - top);
}

function slide(x) {
  const slider = find("slider");
  const [low, high] = x.domain();
  slider.min = low;
  slider.max = high;
  slider.value = state.budget;
  slider.setAttribute("aria-valuetext", `${amount(state.budget)} ${unit()}`);
  slider.style.marginLeft = `${x.range()[0] - 8}px`;
  slider.style.width = `${x.range()[1] - x.range()[0] + 16}px`;
}

drawn.push(frontier);
drawnByBudget.add(frontier);
