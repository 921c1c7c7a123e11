// The data blocks of the page. The first is plain, so that the arms are there at once; numbers
// of every problem and each problem's transcripts are compressed.

const overview = JSON.parse(find("overview").textContent);
const arms = overview.arms;
let index = null;

async function unpacked(id) {
  const packed = Uint8Array.from(atob(find(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

async function loadIndex() {
  index = await unpacked("index");
}

const opened = new Map();

// All transcripts of a problem; null where the page does not hold them.
async function transcripts(place) {
  if (index.block[place] < 0) return null;
  if (!opened.has(place)) opened.set(place, await unpacked(`block-${index.block[place]}`));
  return opened.get(place);
}

const COSTS = {
  total: ["tokens, prompt and completion", "tokens"],
  output: ["output tokens only", "output tokens"],
  uncached: ["tokens without cached prompt", "uncached tokens"],
  weighted: ["weighted tokens (prices)", "weighted tokens"],
  seconds: ["seconds in calls", "seconds"],
};

const weights = { prompt: 1, cached: 0.1, output: 4 };

function costs(arm, cost) {
  if (!index.arms[arm].p.length) return [];
  const { cost_prompt: prompt, cost_output: output, cost_cached: cached } = index.arms[arm];
  if (cost === "seconds") return index.arms[arm].cost_seconds;
  const fresh = (i) => (cached[i] === null ? NaN : prompt[i] - cached[i]);
  const of = {
    total: (i) => prompt[i] + output[i],
    output: (i) => output[i],
    uncached: (i) => fresh(i) + output[i],
    weighted: (i) =>
      weights.prompt * fresh(i) +
      weights.cached * cached[i] +
      weights.output * output[i],
  }[cost];
  return prompt.map((_, i) => of(i));
}

// Problem -> mean over its samples. A missing value makes its problem NaN: never left out.
function byProblem(arm, values) {
  const sums = new Map();
  index.arms[arm].p.forEach((place, i) => {
    const value = values && values[i] !== null ? values[i] : NaN;
    const [sum, count] = sums.get(place) ?? [0, 0];
    sums.set(place, [sum + value, count + 1]);
  });
  for (const [place, [sum, count]] of sums) sums.set(place, sum / count);
  return sums;
}

const remembered = new Map();

function remember(key, make) {
  if (!remembered.has(key)) remembered.set(key, make());
  return remembered.get(key);
}

function scoreOf(arm, metric) {
  return remember(`score ${arm} ${metric}`, () =>
    byProblem(arm, index.arms[arm][`score_${metric}`]),
  );
}

function costOf(arm, cost) {
  const key = cost === "weighted" ? Object.values(weights).join(" ") : "";
  return remember(`cost ${arm} ${cost} ${key}`, () => byProblem(arm, costs(arm, cost)));
}

// What went wrong in each episode of an arm, in words, but for what its status says.
function troublesOf(arm) {
  return remember(`troubles ${arm}`, () => {
    const found = new Map();
    for (const { word } of overview.troubles)
      for (const i of index.arms[arm].troubles?.[word] ?? [])
        found.set(i, [...(found.get(i) ?? []), word.replaceAll("-", " ")]);
    return found;
  });
}

// What became of an arm's samples of a problem, such as "ok · cut short" or "2 ok, 1 no answer".
function statusOf(arm, place) {
  const places = remember(`where ${arm}`, () =>
    d3.group(d3.range(index.arms[arm].p.length), (i) => index.arms[arm].p[i]),
  );
  const found = (places.get(place) ?? []).map((i) =>
    [index.arms[arm].status[i], ...(troublesOf(arm).get(i) ?? [])].join(" · "),
  );
  const counts = d3.rollups(
    found,
    (all) => all.length,
    (name) => name,
  );
  return counts
    .map(([name, count]) => (found.length > 1 ? `${count} ` : "") + name.replaceAll("_", " "))
    .join(", ");
}
