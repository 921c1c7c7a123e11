// Elements and numbers as text. Nothing here ever parses markup: texts of models and data sets
// only become text nodes.

function find(id) {
  return document.getElementById(id);
}

// el("td", {class: "number", onclick: f}, "text", otherElement)
function el(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

function fill(target, ...children) {
  target.replaceChildren(...children.filter((child) => child !== null && child !== undefined));
}

function options(select, pairs, chosen) {
  fill(
    select,
    ...pairs.map(([value, text]) =>
      el("option", { value, selected: String(value) === String(chosen) }, text),
    ),
  );
}

// Buttons of which one is pressed.
function choice(target, pairs, chosen, pick) {
  fill(
    target,
    ...pairs.map(([value, text]) =>
      el(
        "button",
        {
          type: "button",
          "aria-pressed": String(value === chosen),
          onclick: () => pick(value),
        },
        text,
      ),
    ),
  );
}

// The value, or where it lies midway between two texts, the even one: what Python's tables print.
function settled(value, digits = 0) {
  const halves = value * 2 ** (digits + 1);
  if (!Number.isInteger(halves) || halves % 2 === 0) return value;
  const unit = 10 ** digits;
  return (2 * Math.round((value * unit) / 2)) / unit;
}

function whole(value) {
  return d3.format(",.0f")(settled(value));
}

function amount(value) {
  if (!Number.isFinite(value)) return "–";
  return Math.abs(value) < 10 ? d3.format(",.2~f")(value) : whole(value);
}

function percent(value, digits = 1) {
  return Number.isFinite(value) ? settled(100 * value, digits).toFixed(digits) : "–";
}

function share(value) {
  if (!Number.isFinite(value)) return "–";
  if (value > 0 && value < 0.005) return "<1%";
  if (value < 1 && value > 0.995) return ">99%";
  return `${settled(100 * value).toFixed(0)}%`;
}

function signed(value, digits = 1) {
  if (!Number.isFinite(value)) return "–";
  const text = settled(Math.abs(100 * value), digits).toFixed(digits);
  if (Number(text) === 0) return "0";
  return `${value < 0 ? "−" : "+"}${text}`;
}

function plural(count, word) {
  return `${whole(count)} ${word}${count === 1 ? "" : "s"}`;
}

// What stands beside a point or a bar while it is hovered or focused.
function showTip(near, ...lines) {
  const tip = find("tip");
  fill(tip, ...lines);
  tip.hidden = false;
  const box = near.getBoundingClientRect ? near.getBoundingClientRect() : near;
  const size = tip.getBoundingClientRect();
  const left = Math.min(box.left + box.width / 2 + 12, innerWidth - size.width - 8);
  const below = box.bottom + 8 + size.height < innerHeight;
  tip.style.left = `${Math.max(8, left)}px`;
  tip.style.top = `${below ? box.bottom + 8 : Math.max(8, box.top - size.height - 8)}px`;
}

function hideTip() {
  find("tip").hidden = true;
}

// Two columns of a tip: names and numbers.
function tipRows(pairs) {
  return el(
    "table",
    {},
    ...pairs.map(([name, value, strong]) =>
      el(
        "tr",
        { class: strong ? "strong" : null },
        el("th", { scope: "row" }, name),
        el("td", {}, value),
      ),
    ),
  );
}
