// Paired bootstrap over problems: every resample draws the same problems for all arms, and the
// samples of a problem stay together. Seeded: the page reads the same each time.

const MOST_RESAMPLES = 2000;
const LEAST_RESAMPLES = 200;
const MOST_DRAWS = 4e7;

function generator(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

// Means of each column in each resample: one Float64Array per column.
function resampled(columns) {
  const n = columns.length ? columns[0].length : 0;
  const fitting = Math.floor(MOST_DRAWS / Math.max(1, n * columns.length));
  const rounds = Math.max(LEAST_RESAMPLES, Math.min(MOST_RESAMPLES, fitting));
  const means = columns.map(() => new Float64Array(rounds));
  const next = generator(20240601);
  const drawn = new Uint32Array(n);
  for (let round = 0; round < rounds; round += 1) {
    for (let i = 0; i < n; i += 1) drawn[i] = Math.floor(next() * n);
    columns.forEach((column, which) => {
      let sum = 0;
      for (let i = 0; i < n; i += 1) sum += column[drawn[i]];
      means[which][round] = sum / n;
    });
  }
  return means;
}

function bounds(values) {
  const sorted = Float64Array.from(values).sort();
  return [d3.quantileSorted(sorted, 0.025), d3.quantileSorted(sorted, 0.975)];
}

function chance(values, test) {
  let sum = 0;
  for (let i = 0; i < values.length; i += 1) sum += test(values[i], i);
  return values.length ? sum / values.length : NaN;
}

// The mean of all values: a missing one leaves none, where d3.mean would pass over it.
function meanOf(values) {
  return d3.some(values, Number.isNaN) ? NaN : (d3.mean(values) ?? NaN);
}

// Wilson's interval of a lone accuracy, as in the tables: it has a width where all are alike.
function wilson(column) {
  const [z, n] = [1.959963984540054, column.length];
  const share = meanOf(column);
  const middle = (share + (z * z) / (2 * n)) / (1 + (z * z) / n);
  const half = (z * Math.sqrt((share * (1 - share)) / n + (z * z) / (4 * n * n))) / (1 + (z * z) / n);
  return { mean: share, low: Math.max(0, middle - half), high: Math.min(1, middle + half) };
}

// The mean of one column with its interval.
function estimated(column) {
  const mean = meanOf(column);
  if (column.length < 2 || column.some(Number.isNaN)) return { mean, low: NaN, high: NaN };
  const [low, high] = bounds(resampled([column])[0]);
  return { mean, low, high };
}

// Problems that all of these maps hold, in order.
function common(maps) {
  if (!maps.length) return [];
  return [...maps[0].keys()]
    .filter((place) => maps.every((map) => map.has(place)))
    .sort((one, two) => one - two);
}

function column(map, places) {
  return Float64Array.from(places, (place) => map.get(place));
}

// Arms that may be drawn together, in their order: those that share at least half of the problems
// of the arm that overlaps most with all others; all of them where fewer than two would remain.
function comparable(members, metric) {
  const held = members.map((arm) => new Set(scoreOf(arm, metric).keys()));
  const overlap = (one, two) => d3.sum(one, (place) => two.has(place));
  const sums = held.map((one) => d3.sum(held, (two) => overlap(one, two)));
  const order = d3.range(held.length).sort((i, j) => sums[j] - sums[i] || i - j);
  const kept = [];
  let shared = new Set();
  for (const i of order) {
    const left = kept.length ? new Set([...shared].filter((place) => held[i].has(place))) : held[i];
    if (kept.length && 2 * left.size < held[order[0]].size) continue;
    kept.push(i);
    shared = left;
  }
  return kept.length > 1 ? kept.sort(d3.ascending).map((i) => members[i]) : members;
}

// Arms on the problems they share: means, and their values in each resample.
function together(members, metric, cost) {
  const known = (values) => !d3.some(values.values(), Number.isNaN);
  const usable = comparable(
    members.filter((arm) => known(scoreOf(arm, metric)) && known(costOf(arm, cost))),
    metric,
  );
  const places = common(usable.map((arm) => scoreOf(arm, metric)));
  const scores = usable.map((arm) => column(scoreOf(arm, metric), places));
  const spent = usable.map((arm) => column(costOf(arm, cost), places));
  const means = resampled([...scores, ...spent]);
  return {
    arms: usable,
    n: places.length,
    rounds: places.length ? means[0].length : 0,
    score: scores.map(meanOf),
    cost: spent.map(meanOf),
    scores: means.slice(0, usable.length),
    costs: means.slice(usable.length),
  };
}

// Of the arms that cost at most `budget`: the best, how often each is the best, and how the best
// stands against each other one. Arms that tie share a resample.
function readAt(joint, budget) {
  const places = d3.range(joint.arms.length);
  const affordable = places.filter((i) => joint.cost[i] <= budget);
  affordable.sort((i, j) => joint.score[j] - joint.score[i] || joint.cost[i] - joint.cost[j]);
  const wins = new Float64Array(joint.arms.length);
  let none = 0;
  for (let round = 0; round < joint.rounds; round += 1) {
    const within = places.filter((i) => joint.costs[i][round] <= budget);
    const top = d3.max(within, (i) => joint.scores[i][round]);
    const best = within.filter((i) => joint.scores[i][round] === top);
    best.forEach((i) => {
      wins[i] += 1 / best.length;
    });
    none += best.length === 0;
  }
  return {
    order: affordable,
    chance: Array.from(wins, (count) => (joint.rounds ? count / joint.rounds : NaN)),
    none: joint.rounds ? none / joint.rounds : NaN,
  };
}

function difference(one, two) {
  const drawn = one.map((value, round) => value - two[round]);
  const [low, high] = bounds(drawn);
  return { low, high, better: chance(drawn, (value) => (value > 0) + (value === 0) / 2) };
}

// How often each arm is on the front: beaten on both axes by none.
function frontChances(joint) {
  const places = d3.range(joint.arms.length);
  const counts = new Float64Array(joint.arms.length);
  for (let round = 0; round < joint.rounds; round += 1) {
    const order = [...places].sort(
      (i, j) =>
        joint.costs[i][round] - joint.costs[j][round] ||
        joint.scores[j][round] - joint.scores[i][round],
    );
    let top = -Infinity;
    let at = NaN;
    for (const i of order) {
      const [score, cost] = [joint.scores[i][round], joint.costs[i][round]];
      if (score > top || (score === top && cost === at)) {
        counts[i] += 1;
        [top, at] = [score, cost];
      }
    }
  }
  return Array.from(counts, (count) => (joint.rounds ? count / joint.rounds : NaN));
}
