// Both arms on the same problem, turn beside turn, in a dialog that a link can name.

const reader = { place: null, sample: 0, from: null };

async function openTranscript(place, from = null) {
  if (index.block[place] < 0) return;
  if (from) reader.from = from;
  reader.place = place;
  reader.sample = 0;
  await showTranscript();
}

async function showTranscript() {
  const { place } = reader;
  let found;
  try {
    found = await transcripts(place);
  } catch (error) {
    return broken(error);
  }
  if (reader.place !== place) return;
  hideTip();
  const dialog = find("transcript");
  const columns = [
    ["A", state.a],
    ["B", state.b],
  ].filter(([, arm]) => arm !== null);
  const shown = columns.map(([side, arm]) => ({
    side,
    arm,
    transcript: found.find((each) => each.arm === arm && each.sample === reader.sample),
  }));
  const samples = d3.sort(
    new Set(
      found
        .filter((each) => columns.some(([, arm]) => arm === each.arm))
        .map((each) => each.sample),
    ),
  );
  const first = found.find((each) => each.arm === state.a) ?? found[0];
  const focus = dialog.contains(document.activeElement) ? document.activeElement.id : null;
  fill(
    dialog,
    transcriptHead(place, first, samples),
    el("div", { class: "sides" }, ...shown.map(sideHead), ...turnCells(shown)),
  );
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  (focus && find(focus) ? find(focus) : find("transcript-title")).focus();
  history.replaceState(
    null,
    "",
    `#${new URLSearchParams({
      problem: index.id[place],
      benchmark: index.benchmark[place],
      a: arms[state.a]?.folder ?? "",
      b: arms[state.b]?.folder ?? "",
      sample: reader.sample,
    })}`,
  );
}

function transcriptHead(place, first, samples) {
  const { options: choices, question, gold } = first;
  return el(
    "header",
    {},
    transcriptTools(place, samples),
    el("h3", { id: "transcript-title", tabindex: -1, dir: "auto" }, question),
    choices.length
      ? el("ol", { class: "options" }, ...choices.map((option) => el("li", {}, option)))
      : null,
    el(
      "p",
      {},
      "gold ",
      el("strong", {}, gold.join(" | ")),
      el("span", { class: "soft" }, `  ${index.kind[place]} · ${index.id[place]}  `),
      el("mark", { class: "small" }, "published"),
      el("span", { class: "soft small" }, " is what the others could read"),
    ),
  );
}

function transcriptTools(place, samples) {
  const { places } = problemList();
  const at = places.indexOf(place);
  const button = (id, text, onclick, more = {}) =>
    el("button", { type: "button", id, onclick, ...more }, text);
  const key = (name) => ({ "aria-keyshortcuts": name });
  const first = at <= 0;
  const last = at < 0 || at >= places.length - 1;
  const where = at >= 0 ? `${at + 1} of ${places.length}, in the order of the list` : "";
  return el(
    "div",
    { class: "tools" },
    button("previous", "← previous", () => stepTranscript(-1), { ...key("k"), disabled: first }),
    button("next", "next →", () => stepTranscript(1), { ...key("j"), disabled: last }),
    el("span", { class: "soft small" }, where),
    samples.length > 1 ? el("label", {}, "sample ", sampleSelect(samples)) : null,
    button("unfold", "unfold reasoning", unfoldReasoning, key("r")),
    el("span", { class: "soft small keys" }, "keys: j next, k previous, r reasoning, Esc close"),
    button("close", "close", () => find("transcript").close()),
  );
}

function sampleSelect(samples) {
  const pick = (event) => {
    reader.sample = Number(event.target.value);
    showTranscript();
  };
  const select = el("select", { id: "sample", onchange: pick });
  options(
    select,
    samples.map((sample) => [sample, String(sample)]),
    reader.sample,
  );
  return select;
}

function sideHead({ side, arm, transcript }) {
  const select = el("select", {
    id: `side-${side}`,
    "aria-label": `arm ${side}`,
    onchange: (event) => {
      change({ [side.toLowerCase()]: Number(event.target.value) });
      showTranscript();
    },
  });
  options(
    select,
    facetArms()
      .filter((each) => arms[each].n)
      .map((each) => [each, arms[each].label]),
    arm,
  );
  return el(
    "div",
    { class: `side series-${arms[arm].colour}` },
    el("div", { class: "tools" }, el("strong", {}, side), select),
    ...(transcript
      ? outcome(transcript)
      : [el("p", { class: "warn" }, "This arm has no such episode.")]),
  );
}

function outcome(transcript) {
  const { metrics, extracted, status, failure, rule, turns } = transcript;
  const numbers = Object.entries(metrics).map(
    ([name, value]) =>
      `${overview.titles[name] ?? name} ${value === null ? "none" : `${percent(value, 0)}%`}`,
  );
  const total = d3.sum(turns, ({ calls }) =>
    d3.sum(calls, ({ prompt, output }) => prompt + output),
  );
  return [
    el(
      "p",
      { class: "answered", dir: "auto" },
      "answered ",
      el("strong", {}, extracted ?? "(nothing that could be read)"),
      status === "ok"
        ? null
        : el(
            "span",
            { class: status === "no_label" ? "badge soft" : "badge warn" },
            status.replaceAll("_", " "),
          ),
    ),
    el(
      "p",
      { class: "soft small" },
      [...numbers, plural(total, "token"), rule].filter(Boolean).join(" · "),
    ),
    failure ? el("p", { class: "warn" }, failure) : null,
  ].filter(Boolean);
}

// Turns of the same number stand side by side.
function turnCells(shown) {
  const numbers = d3.sort(
    new Set(shown.flatMap(({ transcript }) => transcript?.turns.map(({ turn }) => turn) ?? [])),
  );
  return numbers.flatMap((number) =>
    shown.map(({ side, arm, transcript }) => {
      const turn = transcript?.turns.find((each) => each.turn === number);
      return el(
        "div",
        { class: `cell-turn series-${arms[arm].colour}`, "data-side": side },
        turn ? turnCard(transcript, turn, side) : null,
      );
    }),
  );
}

function stepTranscript(step) {
  const { places } = problemList();
  const held = places.filter((place) => index.block[place] >= 0 || place === reader.place);
  const next = held[held.indexOf(reader.place) + step];
  if (next !== undefined) openTranscript(next);
}

function unfoldReasoning() {
  const all = [...find("transcript").querySelectorAll(".thought")];
  const open = !all.every((each) => each.open);
  all.forEach((each) => {
    each.open = open;
  });
}

function transcriptKeys(event) {
  if (
    ["INPUT", "SELECT"].includes(event.target.tagName) ||
    event.ctrlKey ||
    event.metaKey ||
    event.altKey
  )
    return;
  const act = { j: () => stepTranscript(1), k: () => stepTranscript(-1), r: unfoldReasoning }[
    event.key
  ];
  if (act) {
    event.preventDefault();
    act();
  }
}

function closedTranscript() {
  const { place, from } = reader;
  reader.place = null;
  reader.from = null;
  history.replaceState(null, "", "#compare");
  const again = find("problem-table").querySelector(`[data-problem="${place}"]`);
  (again ?? (from?.isConnected ? from : null))?.focus?.();
}
