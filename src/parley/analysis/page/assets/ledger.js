// Where the tokens went: one bar per arm or per turn, its parts in the order of the prompt.

const BAR = { high: 22, gap: 8, right: 64 };

function ledgerRows() {
  const members = taking().filter((arm) => arms[arm].parts.length);
  const ordered = sorted(members, resultColumns(), state.sort);
  const of = (arm, label, parts) => ({ arm, label, parts, total: d3.sum(parts) });
  if (state.by === "arm") return ordered.map((arm) => of(arm, arms[arm].label, arms[arm].parts));
  return ordered.flatMap((arm) =>
    index.arms[arm].turns.map(({ turn, title, parts }, i) => ({
      ...of(arm, `${turn} ${title}`, parts),
      head: i === 0 ? arms[arm].label : null,
    })),
  );
}

function ledger() {
  choice(
    find("ledger-by"),
    [
      ["arm", "by arm"],
      ["turn", "by turn"],
    ],
    state.by,
    (by) => change({ by }),
  );
  choice(
    find("ledger-scale"),
    [
      ["tokens", "tokens"],
      ["share", "shares"],
    ],
    state.scale,
    (scale) => change({ scale }),
  );
  const rows = ledgerRows();
  ledgerKey(rows);
  ledgerBars(rows);
  ledgerTable(rows);
  edgesTable();
}

function ledgerKey(rows) {
  const used = (part) => rows.some(({ parts }) => parts[part] >= 0.05);
  const entry = ({ name }, part) =>
    used(part)
      ? el(
          "span",
          {
            class: "entry",
            onmouseenter: () => markPart(part),
            onmouseleave: () => markPart(null),
          },
          el("span", { class: `swatch part-${part}` }),
          name,
        )
      : null;
  if (!overview.parts.some((_, part) => used(part))) return fill(find("ledger-key"));
  const group = (read) =>
    overview.parts.map((part, i) => (part.read === read ? entry(part, i) : null));
  fill(
    find("ledger-key"),
    el("span", { class: "soft" }, "read: "),
    ...group(true),
    el("span", { class: "soft" }, "written: "),
    ...group(false),
    ...group(null),
  );
}

function markPart(part) {
  for (const node of document.querySelectorAll("#ledger-chart rect")) {
    node.classList.toggle("faint", part !== null && node.dataset.part !== String(part));
  }
}

function ledgerBars(rows) {
  if (!(d3.max(rows, ({ total }) => total) > 0))
    return fill(find("ledger-chart"), el("p", { class: "soft" }, "No token was recorded."));
  const step = BAR.high + BAR.gap;
  const heads = rows.filter(({ head }) => head).length;
  const high = rows.length * step + heads * 24 + 48;
  const { svg, wide } = canvas(
    find("ledger-chart"),
    high,
    "Tokens per problem by part; the table below has the numbers",
  );
  const shares = state.scale === "share";
  const longest = d3.max(rows, ({ label }) => label.length) ?? 0;
  const left = Math.min(Math.max(60, 7.4 * longest + 14), wide / 3);
  const x = d3.scaleLinear(
    [0, shares ? 1 : d3.max(rows, ({ total }) => total) || 1],
    [left, wide - BAR.right],
  );
  svg
    .append("g")
    .attr("class", "grid")
    .selectAll("line")
    .data(x.ticks(6))
    .join("line")
    .attr("x1", x)
    .attr("x2", x)
    .attr("y1", 0)
    .attr("y2", high - 42);
  let y = 4;
  for (const row of rows) {
    if (row.head) {
      svg
        .append("text")
        .attr("class", "head")
        .attr("x", 0)
        .attr("y", y + 15)
        .text(row.head);
      y += 24;
    }
    ledgerBar(svg, row, x, y, left, shares);
    y += step;
  }
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${high - 40})`)
    .call(
      d3
        .axisBottom(x)
        .ticks(Math.max(3, wide / 130), shares ? "%" : ",.0f")
        .tickSizeOuter(0),
    );
  svg
    .append("text")
    .attr("class", "title")
    .attr("x", wide - BAR.right)
    .attr("y", high - 6)
    .attr("text-anchor", "end")
    .text(shares ? "share of an episode's tokens" : "tokens per problem");
}

function ledgerBar(svg, row, x, y, left, shares) {
  const scale = shares ? row.total || 1 : 1;
  const group = svg
    .append("g")
    .attr("data-arm", row.arm)
    .attr("class", "ledger-bar")
    .attr("tabindex", 0)
    .attr("role", "img")
    .attr("aria-label", `${row.head ?? ""} ${row.label}: ${described(row)}`);
  group
    .append("text")
    .attr("x", left - 8)
    .attr("y", y + 15)
    .attr("text-anchor", "end")
    .text(row.label);
  let at = 0;
  row.parts.forEach((size, part) => {
    if (size < 0.05) return;
    const [start, end] = [x(at / scale), x((at + size) / scale)];
    at += size;
    const rect = group
      .append("rect")
      .attr("class", `part-${part}`)
      .attr("data-part", part)
      .attr("x", start)
      .attr("y", y)
      .attr("width", Math.max(0.5, end - start))
      .attr("height", BAR.high);
    rect
      .on("mouseenter", () => {
        mark(row.arm);
        showTip(rect.node(), ...barTip(row, part));
      })
      .on("mouseleave", () => {
        mark(null);
        hideTip();
      });
  });
  group
    .append("text")
    .attr("class", "total")
    .attr("x", x(at / scale) + 6)
    .attr("y", y + 15)
    .text(`${arms[row.arm].estimated ? "~" : ""}${whole(row.total)}`);
  group
    .on("focus", () => showTip(group.select("text.total").node(), ...barTip(row, -1)))
    .on("blur", hideTip);
}

function described(row) {
  return row.parts
    .map((size, part) => [size, part])
    .filter(([size]) => size >= 0.05)
    .map(([size, part]) => `${overview.parts[part].name} ${whole(size)}`)
    .join(", ");
}

function barTip(row, hovered) {
  const lines = row.parts
    .map((size, part) => [size, part])
    .filter(([size]) => size >= 0.05)
    .map(([size, part]) => [
      overview.parts[part].name,
      `${whole(size)} · ${share(size / row.total)}`,
      part === hovered,
    ]);
  return [
    el("strong", {}, state.by === "turn" ? `${arms[row.arm].label}, turn ${row.label}` : row.label),
    tipRows(lines),
  ];
}

function ledgerTable(rows) {
  const used = overview.parts
    .map((part, i) => ({ ...part, i }))
    .filter(({ i }) => rows.some(({ parts }) => parts[i] >= 0.05));
  const line = ({ arm, label, parts, total }) =>
    el(
      "tr",
      {},
      el("th", { scope: "row" }, state.by === "turn" ? `${arms[arm].label} · ${label}` : label),
      ...used.map(({ i }) => el("td", { class: "number" }, amount(parts[i] ?? 0))),
      el("td", { class: "number" }, whole(total)),
    );
  fill(
    find("ledger-table"),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, state.by),
        ...used.map(({ name }) => el("th", { scope: "col", class: "number" }, name)),
        el("th", { scope: "col", class: "number" }, "all"),
      ),
    ),
    el("tbody", {}, ...rows.map(line)),
  );
}

// Tokens that one seat's messages cost in another seat's prompts.
function edgesTable() {
  const members = taking();
  const pairs = [
    ...new Set(
      members.flatMap((arm) =>
        index.arms[arm].edges.map(([reader, source]) => JSON.stringify([reader, source])),
      ),
    ),
  ];
  const cell = (arm, pair) => {
    const found = index.arms[arm].edges.find(
      ([reader, source]) => JSON.stringify([reader, source]) === pair,
    );
    return el("td", { class: "number" }, found ? amount(found[2]) : "–");
  };
  fill(
    find("edges-table"),
    el(
      "thead",
      {},
      el(
        "tr",
        {},
        el("th", { scope: "col" }, "tokens per problem"),
        ...pairs
          .map(JSON.parse)
          .map(([reader, source]) =>
            el(
              "th",
              { scope: "col", class: "number" },
              `${reader} reads ${reader === source ? "itself" : source}`,
            ),
          ),
      ),
    ),
    el(
      "tbody",
      {},
      ...members.map((arm) =>
        el(
          "tr",
          { "data-arm": arm },
          el("th", { scope: "row" }, named(arm)),
          ...pairs.map((pair) => cell(arm, pair)),
        ),
      ),
    ),
  );
}

drawn.push(ledger);
