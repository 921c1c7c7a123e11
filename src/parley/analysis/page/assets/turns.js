// One turn as it was: what was heard, thought, written and published, and what each part cost.

// Pieces in turn private and published: published ones are marked.
function marked(pieces) {
  return pieces.map((piece, i) => (i % 2 && piece ? el("mark", {}, piece) : piece));
}

function length(pieces) {
  return d3.sum(pieces, (piece) => piece.length);
}

function textBlock(name, ...content) {
  return el("div", { class: `text ${name}`, dir: "auto" }, ...content);
}

function folded(name, summary, ...content) {
  return el("details", { class: name }, el("summary", {}, summary), ...content);
}

function turnCard(transcript, turn, side) {
  const total = d3.sum(turn.calls, ({ prompt, output }) => prompt + output);
  const guessed = turn.calls.some(({ estimated }) => estimated) ? "~" : "";
  return el(
    "article",
    { class: "turn" },
    el(
      "h4",
      {},
      el("span", { class: "side-name accent" }, side),
      `${turn.turn} · ${turn.title}`,
      el("span", { class: "soft" }, ` round ${turn.round}${turn.answers ? " · answers" : ""}`),
      turn.status
        ? el(
            "span",
            { class: turn.status === "ok" ? "badge soft" : "badge warn" },
            turn.status.replaceAll("_", " "),
          )
        : null,
      el("span", { class: "number soft" }, `${guessed}${plural(total, "token")}`),
    ),
    heardLine(transcript, turn),
    ...turn.calls.flatMap((call) => callBlocks(transcript, turn, call)),
    turn.sent !== null
      ? el(
          "div",
          {},
          el("h5", {}, "published as"),
          textBlock("sent", el("mark", {}, turn.sent || "(empty)")),
        )
      : null,
    turn.status && turn.sent === null && !published(turn)
      ? el("p", { class: "warn small" }, "nothing was published")
      : null,
  );
}

function published(turn) {
  return turn.calls.some(({ reasoning, visible }) => reasoning.length > 1 || visible.length > 1);
}

function heardLine(transcript, turn) {
  const title = (source) =>
    `turn ${source} (${transcript.turns.find((other) => other.turn === source)?.title ?? "?"})`;
  const changed = turn.heard.map(([source, text]) =>
    el(
      "div",
      { class: "small" },
      el(
        "span",
        { class: "warn" },
        `${title(source)} ${text === null ? "was dropped by the channel" : "was heard as:"}`,
      ),
      text === null ? null : textBlock("sent", text),
    ),
  );
  if (!turn.hears.length) return el("p", { class: "soft small" }, "heard nothing");
  return el(
    "div",
    {},
    el("p", { class: "soft small" }, `heard ${turn.hears.map(title).join(", ")}`),
    ...changed,
  );
}

function callBlocks(transcript, turn, call) {
  const asked = call.kind !== "speak" ? el("h5", {}, `asked again: ${call.kind}`) : null;
  const kept = call.reasoning.length > 1;
  const reasoning = length(call.reasoning)
    ? folded(
        "thought",
        `reasoning, ${kept ? "published in part or whole" : "private"} · ${plural(call.parts[5] + (kept ? call.parts[6] : 0), "token")}${kept ? " with what was published" : ""}`,
        textBlock("reasoning", ...marked(call.reasoning)),
      )
    : null;
  const visible = length(call.visible)
    ? textBlock("visible", ...marked(call.visible))
    : el("p", { class: "soft small" }, "no visible text");
  const said = call.said.length ? el("p", { class: "warn small" }, call.said.join(", ")) : null;
  return [asked, reasoning, visible, said, tokensLine(call), promptRead(transcript, call)];
}

function tokensLine(call) {
  const total = d3.sum(call.parts) || 1;
  const bar = el(
    "span",
    { class: "mini", "aria-hidden": "true" },
    ...call.parts.map((size, part) => {
      const piece = el("span", { class: `part-${part}` });
      piece.style.width = `${(100 * size) / total}%`;
      return piece;
    }),
  );
  const known = call.parts
    .map((size, part) => [overview.parts[part].name, size])
    .filter(([, size]) => size > 0);
  const summary = `${whole(call.prompt)} read${call.cached && !call.reused ? `, ${whole(call.cached)} of them cached` : ""} · ${whole(call.output)} written`;
  return el(
    "details",
    { class: "tokens" },
    el("summary", {}, bar, el("span", { class: "soft small" }, summary)),
    tipRows(known.map(([name, size]) => [name, whole(size)])),
    el(
      "p",
      { class: "soft small" },
      `${call.estimated ? "partly estimated; " : ""}${call.reused ? "reused from an earlier record" : `${call.seconds} s`}`,
    ),
  );
}

function promptRead(transcript, call) {
  const words = (part, text) =>
    typeof text === "number"
      ? [el("h5", {}, `${part}: message of turn ${text}`)]
      : [el("h5", {}, part), textBlock("prompt", text)];
  return folded(
    "read",
    "prompt it read",
    ...call.read.flatMap(([part, text]) => words(part, text)),
  );
}
