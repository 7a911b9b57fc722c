// Small SVG charts: redrawn at each tick, as wide as their box, coloured by the style sheet.

import { node, svg, whole } from "./dom.js";

const PAD = { left: 46, right: 12, top: 10, bottom: 24 };

/** Round steps for an axis that reaches `top`. */
export function steps(top, count = 4) {
  if (!(top > 0)) return [0, 1];
  const raw = top / count;
  const unit = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * unit).find((size) => size >= raw * 0.999);
  const marks = [];
  for (let at = 0; at < top + step * 0.999; at += step) marks.push(+at.toPrecision(12));
  return marks;
}

function frame(width, height, label, role = "img") {
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, width, height, role, "aria-label": label });
}

function grid(root, width, height, marks, format) {
  const top = marks[marks.length - 1];
  const y = (value) => height - PAD.bottom - (value / top) * (height - PAD.top - PAD.bottom);
  for (const mark of marks) {
    root.append(
      svg("line", { class: "grid-line", x1: PAD.left, x2: width - PAD.right, y1: y(mark), y2: y(mark) }),
      svg("text", { class: "axis", x: PAD.left - 6, y: y(mark) + 4, "text-anchor": "end" }, format(mark)));
  }
  return y;
}

/** A line (with a filled area) through [x, y] points, drawn into a box. */
export function line(box, points, { label, x: nameX, y: formatY = whole, x0, x1, top, kind = "", height = 200, band = null, beside = null }) {
  const width = Math.max(240, box.clientWidth);
  const root = frame(width, height, label);
  box.replaceChildren(root);
  if (points.length < 2) return empty(root, width, height);
  const first = x0 ?? points[0][0];
  const last = x1 ?? points[points.length - 1][0];
  const highest = Math.max(...points.map((point) => point[1]), ...(beside?.points ?? []).map((point) => point[1]), 1e-9);
  // A bound far above the curves must not flatten them.
  const marks = steps(top ?? (band ? Math.max(highest, Math.min(band[1], 2 * highest)) : highest));
  const y = grid(root, width, height, marks, formatY);
  if (band) {
    const ceiling = marks[marks.length - 1];
    const [low, high] = [Math.min(band[0], ceiling), Math.min(band[1], ceiling)];
    root.append(
      svg("rect", { class: "band", x: PAD.left, width: width - PAD.left - PAD.right, y: y(high).toFixed(1), height: Math.max(1, y(low) - y(high)).toFixed(1) }),
      svg("text", { class: "axis", x: PAD.left + 8, y: Math.max(PAD.top + 12, y(high) - 5).toFixed(1) }, band[2]));
  }
  const x = (value) => PAD.left + ((value - first) / (last - first || 1)) * (width - PAD.left - PAD.right);
  const path = points.map((point, i) => `${i ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`).join("");
  if (beside && beside.points.length > 1) {
    const dashed = beside.points.map((point, i) => `${i ? "L" : "M"}${x(point[0]).toFixed(1)} ${y(point[1]).toFixed(1)}`).join("");
    root.append(svg("path", { class: "beside", d: dashed }));
  }
  const base = (height - PAD.bottom).toFixed(1);
  root.append(
    svg("path", { class: `area ${kind}`, d: `${path}L${x(points[points.length - 1][0]).toFixed(1)} ${base}L${x(points[0][0]).toFixed(1)} ${base}Z` }),
    svg("path", { class: `stroke ${kind}`, d: path }),
    svg("circle", { class: `dot ${kind}`, cx: x(points[points.length - 1][0]), cy: y(points[points.length - 1][1]), r: 4 }),
    svg("text", { class: "axis", x: PAD.left, y: height - 6 }, nameX(first)),
    svg("text", { class: "axis", x: width - PAD.right, y: height - 6, "text-anchor": "end" }, nameX(last)));
  return root;
}

/** Upright bars for bins with `low`, `high` and `waiting`, drawn into a box. */
export function histogram(box, bins, { label, height = 200 }) {
  const width = Math.max(240, box.clientWidth);
  const root = frame(width, height, label);
  box.replaceChildren(root);
  if (!bins.length) return empty(root, width, height);
  const y = grid(root, width, height, steps(Math.max(...bins.map((bin) => bin.waiting), 1)), whole);
  const each = (width - PAD.left - PAD.right) / bins.length;
  bins.forEach((bin, i) => {
    const tall = height - PAD.bottom - y(bin.waiting);
    root.append(svg("rect", {
      class: "column", x: (PAD.left + i * each + 1).toFixed(1), y: y(bin.waiting).toFixed(1),
      width: Math.max(1, each - 2).toFixed(1), height: Math.max(bin.waiting ? 1 : 0, tall).toFixed(1), rx: 2,
    }, svg("title", {}, `${number(bin.low)} to ${number(bin.high)}: ${whole(bin.waiting)}`)));
  });
  root.append(
    svg("text", { class: "axis", x: PAD.left, y: height - 6 }, number(bins[0].low)),
    svg("text", { class: "axis", x: width - PAD.right, y: height - 6, "text-anchor": "end" }, number(bins[bins.length - 1].high)));
  return root;
}

const number = (value) => Math.abs(value) >= 1000 ? whole(value) : String(+value.toPrecision(3));

function empty(root, width, height) {
  root.append(svg("text", { class: "axis", x: width / 2, y: height / 2, "text-anchor": "middle" }, "nothing yet"));
  return root;
}

function pack(hosts, width, height, scale) {
  const placed = [];
  for (const host of hosts) {
    const r = Math.min(height / 2 - 4, width / 2 - 4, Math.max(3, scale * Math.sqrt(host.fetched)));
    for (let turn = 0; turn < 4000; turn += 1) {
      const away = 1.6 * Math.sqrt(turn);
      const x = width / 2 + (width / height) * away * Math.cos(turn * 2.4);
      const y = height / 2 + away * Math.sin(turn * 2.4);
      if (x - r < 0 || x + r > width || y - r < 0 || y + r > height) continue;
      if (placed.some((one) => Math.hypot(one.x - x, one.y - y) < one.r + r + 2)) continue;
      placed.push({ x, y, r, host });
      break;
    }
  }
  return placed;
}

/** Hosts as circles, each placed as near to the middle as there is room: size by pages, colour by share on topic. */
export function circles(box, hosts, { label, link, height = 300 }) {
  const width = Math.max(240, box.clientWidth);
  const root = frame(width, height, label, "group");
  box.replaceChildren(root);
  if (!hosts.length) return empty(root, width, height);
  const area = hosts.reduce((sum, host) => sum + host.fetched, 0);
  let scale = Math.sqrt((0.42 * width * height) / (Math.PI * area));
  let placed = pack(hosts, width, height, scale);
  // Smaller until all have room: on a phone a large neighbour leaves little of it.
  for (let turn = 0; placed.length < hosts.length && turn < 8; turn += 1) {
    scale *= 0.85;
    placed = pack(hosts, width, height, scale);
  }
  for (const { x, y, r, host } of placed) {
    const rate = host.relevant / host.fetched;
    const told = `${host.name}: ${whole(host.relevant)} of ${whole(host.fetched)} on topic`;
    const name = host.name.replace(/^www\./, "");
    root.append(svg("a", { href: link(host.name), "aria-label": told },
      svg("circle", { class: "host", cx: x.toFixed(1), cy: y.toFixed(1), r: r.toFixed(1) }, svg("title", {}, told)),
      svg("circle", { class: "share", cx: x.toFixed(1), cy: y.toFixed(1), r: (r * Math.sqrt(rate)).toFixed(1) }),
      r > 24 ? svg("text", { class: "name", x: x.toFixed(1), y: (y + 4).toFixed(1), "text-anchor": "middle" },
        name.length * 6 > 2 * r ? `${name.slice(0, Math.max(3, Math.floor(r / 3.4)))}…` : name) : ""));
  }
  return root;
}

/** Lying bars as a table: rows are [name, number, ...further cells]; `link` makes the name a link. */
export function bars(rows, { head, link = () => null }) {
  const most = Math.max(...rows.map((row) => row[1]), 1);
  const body = rows.map(([name, count, ...more]) => {
    const href = link(name);
    return node("tr", {},
      node("td", {}, href ? node("a", { href }, node("bdi", {}, name)) : node("bdi", {}, name)),
      node("td", { class: "barcell" }, svg("svg", { viewBox: "0 0 100 10", preserveAspectRatio: "none", "aria-hidden": "true" },
        svg("rect", { class: "column", width: ((100 * count) / most).toFixed(2), height: 10 }))),
      node("td", { class: "number" }, whole(count)),
      ...more.map((cell) => node("td", { class: "number" }, cell)));
  });
  return node("table", { class: "bars" },
    node("thead", {}, node("tr", {}, ...head.map((text, i) => node("th", { class: i > 1 ? "number" : null }, text)))),
    node("tbody", {}, ...body));
}
