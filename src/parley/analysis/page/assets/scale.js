// Score and cost over the models of a benchmark, one line per arm; and what to use at the budget.

const SCALE = { high: 270, top: 26, bottom: 30, left: 52, right: 16 };

// Facets of the benchmark that is shown, one per model, smaller ones first.
function modelFacets() {
  const benchmark = overview.facets[state.facet]?.benchmark;
  return d3.range(overview.facets.length).filter((facet) => {
    return overview.facets[facet].benchmark === benchmark && taking(facet).length;
  });
}

// One line per name that an arm has within its model, at most one arm of each model.
function scaleLines(facets) {
  const all = facets.flatMap((facet, at) => taking(facet).map((arm) => ({ ...placed(arm), at })));
  return d3.groups(all, ({ arm }) => arms[arm].label);
}

function scale() {
  const facets = modelFacets();
  find("scale").hidden = facets.length < 2;
  if (facets.length < 2) return;
  const lines = scaleLines(facets);
  fill(
    find("scale-key"),
    ...lines.map(([label, points], i) =>
      el(
        "span",
        {
          class: "entry",
          onmouseenter: () => markLine(i),
          onmouseleave: () => markLine(null),
        },
        legendSign(i, arms[points[0].arm].colour),
        label,
      ),
    ),
  );
  scalePanel("scale-score", `${metricTitle()}, %`, facets, lines, ({ score }) => score, 100);
  scalePanel("scale-cost", `${unit()} per problem`, facets, lines, ({ cost }) => cost, 1);
}

function symbol(i) {
  return d3.symbol(d3.symbolsFill[i % d3.symbolsFill.length], 58)();
}

function legendSign(i, colour) {
  const space = "http://www.w3.org/2000/svg";
  const svg = document.createElementNS(space, "svg");
  for (const [key, value] of [
    ["width", 14],
    ["height", 14],
    ["viewBox", "-7 -7 14 14"],
    ["class", "sign"],
    ["aria-hidden", "true"],
  ])
    svg.setAttribute(key, value);
  const path = document.createElementNS(space, "path");
  path.setAttribute("d", symbol(i));
  path.setAttribute("class", `filled series-${colour}`);
  svg.append(path);
  return svg;
}

function markLine(line) {
  for (const node of document.querySelectorAll("#scale .trend")) {
    node.classList.toggle("faint", line !== null && node.dataset.line !== String(line));
  }
}

function scalePanel(id, title, facets, lines, of, times) {
  const { high, top, bottom, left, right } = SCALE;
  const { svg, wide } = canvas(find(id), high, `${title}, by model; the table below has the best`);
  const models = facets.map((facet) => overview.facets[facet].model);
  const x = d3.scalePoint(d3.range(models.length), [left, wide - right]).padding(0.5);
  const ends = lines.flatMap(([, points]) =>
    points.flatMap((point) => [of(point).mean, of(point).high].filter(Number.isFinite)),
  );
  const y = d3.scaleLinear([0, (d3.max(ends) || 1) * times * 1.04], [high - bottom, top]);
  across(svg, y, left, wide - right, y.ticks(5));
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(${left},0)`)
    .call(d3.axisLeft(y).ticks(5).tickSize(0).tickPadding(8))
    .select(".domain")
    .remove();
  svg
    .append("g")
    .attr("class", "axis models")
    .attr("transform", `translate(0,${high - bottom})`)
    .call(
      d3
        .axisBottom(x)
        .tickFormat((i) => models[i])
        .tickSizeOuter(0),
    );
  svg.append("text").attr("class", "title").attr("x", 0).attr("y", 12).text(title);
  const apart = Math.min(10, (x.step() * 0.5) / Math.max(1, lines.length));
  lines.forEach(([label, points], i) => {
    const shift = apart * (i - (lines.length - 1) / 2);
    const shown = points.filter((point) => Number.isFinite(of(point).mean));
    const place = (point) => [x(point.at) + shift, y(times * of(point).mean)];
    const group = svg
      .append("g")
      .attr("class", `trend series-${arms[points[0].arm].colour}`)
      .attr("data-line", i);
    group.append("path").attr("class", "line").attr("d", d3.line()(shown.map(place)));
    for (const point of shown) {
      const { low, high: above } = of(point);
      const [across, level] = place(point);
      if (Number.isFinite(low))
        group
          .append("line")
          .attr("x1", across)
          .attr("x2", across)
          .attr("y1", y(times * low))
          .attr("y2", y(times * above));
      scalePoint(group, point, `translate(${across},${level})`, i, label);
    }
  });
}

function scalePoint(group, point, where, i, label) {
  const { arm, score, cost } = point;
  const { model } = overview.facets[arms[arm].facet];
  const go = () => showArm(arm);
  const node = group
    .append("path")
    .attr("d", symbol(i))
    .attr("transform", where)
    .attr("class", "filled place")
    .attr("data-arm", arm)
    .attr("tabindex", 0)
    .attr("role", "button")
    .attr(
      "aria-label",
      `${label}, ${model}: ${percent(score.mean)}% at ${amount(cost.mean)} ${unit()}. Show this model.`,
    );
  node
    .on("mouseenter focus", () => {
      markLine(i);
      showTip(node.node(), el("p", {}, model), ...pointTip(point));
    })
    .on("mouseleave blur", () => {
      markLine(null);
      hideTip();
    })
    .on("click", go)
    .on("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        go();
      }
    });
}

// The page turns to the arm's model; score, cost and budget stay.
function showArm(arm) {
  const { metric, cost, budget } = state;
  const kept = { cost, budget };
  if (overview.facets[arms[arm].facet].metrics.includes(metric)) kept.metric = metric;
  begin(arms[arm].facet);
  Object.assign(state, kept);
  pick(arm);
}

// What to use at the budget, for each model.
function scaleTable() {
  const facets = modelFacets();
  if (facets.length < 2) return;
  const heads = ["model", `use at ${amount(state.budget)}`, `${metricTitle()} %`, unit()];
  fill(
    find("scale-table"),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        ...[...heads, "best in", "how sure"].map((head, i) =>
          el("th", { scope: "col", class: i > 1 && i < 5 ? "number" : null }, head),
        ),
      ),
    ),
    el("tbody", {}, ...facets.map(scaleRow)),
  );
  find("scale-note").textContent =
    "Best in: share of resamples in which it is the best within the budget, among the arms of its model. Models are not compared in pairs here. Click a point to turn the page to its model.";
}

function scaleRow(facet) {
  const joint = jointly(facet);
  const read = joint.n ? readAt(joint, state.budget) : { order: [] };
  const { model } = overview.facets[facet];
  const name = el(
    "th",
    { scope: "row" },
    facet === state.facet
      ? el("strong", {}, model)
      : el(
          "button",
          { type: "button", class: "link", onclick: () => showArm(taking(facet)[0]) },
          model,
        ),
  );
  if (!read.order.length) {
    const why = joint.n ? "no arm is that cheap" : "no problem that all arms share";
    return el("tr", {}, name, el("td", { colspan: 5, class: "soft" }, why));
  }
  const [best] = read.order;
  const { score, cost } = placed(joint.arms[best]);
  const word = read.order.length > 1 && joint.n > 1 ? certainty(joint, read).word : "–";
  return el(
    "tr",
    {},
    name,
    el("td", {}, named(joint.arms[best])),
    el("td", { class: "number" }, ...estimateCell(score, percent)),
    el("td", { class: "number" }, ...estimateCell(cost, amount)),
    el("td", { class: "number" }, share(read.chance[best])),
    el("td", {}, word),
  );
}

drawn.push(scale, scaleTable);
drawnByBudget.add(scaleTable);
