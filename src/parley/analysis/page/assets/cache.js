// How much of the prompts a prefix cache served, against what one that forgets nothing could have.

function cacheBars() {
  const members = sorted(
    taking().filter((arm) => arms[arm].parts.length),
    resultColumns(),
    state.sort,
  );
  const known = members.filter((arm) => arms[arm].cache);
  find("cache").hidden = !members.length;
  fill(
    find("cache-key"),
    el("span", { class: "entry" }, el("span", { class: "swatch part-4" }), "served"),
    el(
      "span",
      { class: "entry" },
      el("span", { class: "swatch part-3" }),
      "could have been: an earlier call of the arm began the same",
    ),
  );
  const step = BAR.high + BAR.gap;
  const high = members.length * step + 48;
  const { svg, wide } = canvas(
    find("cache-chart"),
    high,
    "Share of prompt tokens that a prefix cache served and could have served",
  );
  const longest = d3.max(members, (arm) => arms[arm].label.length) ?? 0;
  const left = Math.min(Math.max(60, 7.4 * longest + 14), wide / 3);
  const x = d3.scaleLinear([0, 1], [left, wide - 210]);
  const ticks = x.ticks(x(1) - left < 200 ? 1 : 4);
  svg
    .append("g")
    .attr("class", "grid")
    .selectAll("line")
    .data(ticks)
    .join("line")
    .attr("x1", x)
    .attr("x2", x)
    .attr("y1", 0)
    .attr("y2", high - 42);
  members.forEach((arm, i) => cacheBar(svg, arm, x, 4 + i * step, left));
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${high - 40})`)
    .call(d3.axisBottom(x).tickValues(ticks).tickFormat(d3.format(".0%")).tickSizeOuter(0));
  svg
    .append("text")
    .attr("class", "title")
    .attr("x", x(1))
    .attr("y", high - 6)
    .attr("text-anchor", "end")
    .text("share of prompt tokens");
  fill(find("cache-note"), cacheWords(known));
}

function cacheBar(svg, arm, x, y, left) {
  const { label, cache } = arms[arm];
  const group = svg.append("g").attr("class", "cache-bar").attr("data-arm", arm);
  group
    .append("text")
    .attr("x", left - 8)
    .attr("y", y + 15)
    .attr("text-anchor", "end")
    .text(label);
  if (!cache) {
    group
      .append("text")
      .attr("class", "total")
      .attr("x", left + 6)
      .attr("y", y + 15)
      .text("no call of its own");
    return;
  }
  const { served, servable, prompt } = cache;
  for (const [part, to, inset] of [
    [3, servable, 0],
    [4, served, 6],
  ]) {
    group
      .append("rect")
      .attr("class", `part-${part}`)
      .attr("x", left)
      .attr("width", Math.max(0, x(to) - left))
      .attr("y", y + inset)
      .attr("height", BAR.high - 2 * inset);
  }
  group
    .append("text")
    .attr("class", "total")
    .attr("x", x(servable) + 6)
    .attr("y", y + 15)
    .text(`${share(served)} of ${share(servable)}, ${whole((servable - served) * prompt)} missed`);
  group
    .attr("tabindex", 0)
    .attr("role", "img")
    .attr(
      "aria-label",
      `${label}: ${share(served)} of ${whole(prompt)} prompt tokens were served from the cache, ${share(servable)} could have been`,
    );
}

function cacheWords(known) {
  if (!known.length) return "";
  const none = known.every((arm) => !arms[arm].cache.served);
  const cut = known.some((arm) => arms[arm].cache.episodes >= overview.most);
  return [
    "Missed: prompt tokens per problem between the two. Dark is what the engine says it served, light what a cache that forgets nothing could have served, calls in their recorded order; reused calls are left out.",
    none ? "The engine reported no cached token: it keeps no cache, or does not say." : "",
    cut ? `From the first ${whole(overview.most)} episodes of each arm.` : "",
  ]
    .filter(Boolean)
    .join(" ");
}

drawn.push(cacheBars);
