// What the charts share: an SVG of the box's width, axes, labels that keep off each other.

function canvas(target, height, label) {
  const wide = Math.max(280, target.clientWidth);
  fill(target);
  const svg = d3
    .select(target)
    .append("svg")
    .attr("width", wide)
    .attr("height", height)
    .attr("role", "group")
    .attr("aria-label", label);
  return { svg, wide };
}

function bottomAxis(svg, scale, y, title, right) {
  const ticks = Math.max(3, Math.floor((scale.range()[1] - scale.range()[0]) / 90));
  svg
    .append("g")
    .attr("class", "axis")
    .attr("transform", `translate(0,${y})`)
    .call(d3.axisBottom(scale).ticks(ticks).tickSizeOuter(0));
  svg
    .append("text")
    .attr("class", "title")
    .attr("x", right)
    .attr("y", y + 34)
    .attr("text-anchor", "end")
    .text(title);
}

function across(svg, scale, left, right, ticks) {
  svg
    .append("g")
    .attr("class", "grid")
    .selectAll("line")
    .data(ticks)
    .join("line")
    .attr("x1", left)
    .attr("x2", right)
    .attr("y1", scale)
    .attr("y2", scale);
}

// From 0 where that wastes less than a third of the axis, else around the values.
function limits(values, room) {
  const low = d3.min(values) ?? 0;
  const high = d3.max(values) ?? 1;
  if (low <= 0.34 * high || low === high) return [0, 1.12 * high || 1];
  return [Math.max(0, low - room * (high - low)), high + room * (high - low)];
}

const ANGLES = [0, 30, -30, 90, -90, 60, -60, 180, 150, -150, 120, -120];
const DISTANCES = [11, 16, 24, 34, 46, 60, 76, 96, 120, 150];

function overlap(one, two) {
  return (
    one.left < two.right && two.left < one.right && one.top < two.bottom && two.top < one.bottom
  );
}

function* boxes({ x, y, wide, high }) {
  for (const distance of DISTANCES) {
    for (const angle of ANGLES) {
      const along = Math.cos((angle * Math.PI) / 180);
      const up = Math.sin((angle * Math.PI) / 180);
      const left = x + distance * along + ((along - 1) * wide) / 2;
      const top = y - distance * up - ((up + 1) * high) / 2;
      yield { left, top, right: left + wide, bottom: top + high, distance };
    }
  }
}

// Moves text nodes beside their points: on no point, on no other label, off lines where it can be.
function placeLabels(svg, labels, frame, lines) {
  const points = labels.map(({ x, y }) => ({
    left: x - 7,
    right: x + 7,
    top: y - 7,
    bottom: y + 7,
  }));
  const taken = [];
  for (const label of labels) {
    const size = { x: label.x, y: label.y, wide: label.node.getComputedTextLength(), high: 15 };
    let best = null;
    let lowest = Infinity;
    for (const box of boxes(size)) {
      if (box.distance > lowest) break;
      const inside =
        box.left >= frame.left &&
        box.right <= frame.right &&
        box.top >= frame.top &&
        box.bottom <= frame.bottom;
      const price =
        box.distance +
        (inside ? 0 : 20000) +
        10000 * taken.filter((other) => overlap(box, other)).length +
        2000 * points.filter((other) => overlap(box, other)).length +
        14 * lines.filter((other) => overlap(box, other)).length;
      if (price < lowest) [best, lowest] = [box, price];
    }
    taken.push(best);
    d3.select(label.node)
      .attr("x", best.left)
      .attr("y", best.bottom - 3);
    if (best.distance > 24) {
      const x = Math.min(Math.max(label.x, best.left), best.right);
      const y = Math.min(Math.max(label.y, best.top), best.bottom);
      svg
        .insert("line", "g.points")
        .attr("class", "leader")
        .attr("x1", label.x)
        .attr("y1", label.y)
        .attr("x2", x)
        .attr("y2", y);
    }
  }
}
