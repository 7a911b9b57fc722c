// The topic builder: shows while one types what would count as on topic, on pages that the portal fetches.

import { node, root, score, svg } from "./dom.js";

const PAUSE = 700;
const form = document.getElementById("fields");
const place = document.getElementById("seen");
const page = form.getAttribute("action");

const WAITS = "An address is looked at when a space or a new line follows it.";

/** The fields, without an address that is still being written: it would be another site's. */
function fields() {
  const data = new URLSearchParams(new FormData(form));
  const at = document.activeElement;
  if (form.contains(at) && at.tagName === "TEXTAREA" && !at.dataset.pasted) {
    const before = at.value.slice(0, at.selectionStart).replace(/\S+$/, "");
    const rest = at.value.slice(before.length);
    if (/^\S*https?:/.test(rest)) data.set(at.name, before + rest.replace(/^\S+/, ""));
  }
  return data;
}

function bar(value) {
  return node("span", { class: "score" }, svg("svg", { viewBox: "0 0 40 8", width: 40, height: 8, "aria-hidden": "true" },
    svg("rect", { class: "track", width: 40, height: 8, rx: 4 }),
    svg("rect", { class: "fill", width: (40 * Math.min(1, Math.max(0, value))).toFixed(1), height: 8, rx: 4 })), ` ${score(value)}`);
}

function judged(one) {
  const against = one.wanted !== null && one.wanted !== one.on_topic;
  return node("li", {},
    node("div", { class: "line" }, node("span", { class: one.on_topic ? "tag good" : "tag bad" }, one.on_topic ? "on topic" : "off topic"), bar(one.score),
      against ? node("span", { class: "tag bad" }, `you say ${one.wanted ? "on" : "off"} topic`) : null),
    node("span", { class: "title" }, node("bdi", {}, one.title || one.url)), " ", node("span", { class: "url" }, node("bdi", {}, one.url)),
    node("p", { class: "line" }, ...(one.terms.length ? one.terms.slice(0, 8).map(([term]) => node("span", { class: "tag" }, term))
      : [node("span", { class: "soft" }, "no word of it speaks for the topic")])),
    one.sentence ? node("q", { class: "said" }, node("bdi", {}, one.sentence)) : "");
}

const card = (title, ...inside) => node("section", { class: "card" }, node("h2", {}, title), ...inside);
const list = (pages) => node("ul", { class: "list" }, ...pages.map(judged));

/** Why nothing was judged yet. */
function nothing(seen) {
  if (seen.missed.length) return "None of these pages could be fetched; below is why.";
  const written = [...new FormData(form).values()].some((text) => /https?:/.test(text));
  return written ? WAITS
    : "Add an address, and the page and some that it links to are judged here.";
}

function show(seen, busy) {
  const all = [...seen.examples.filter((one) => one.wanted), ...seen.around];
  const counted = all.filter((one) => one.on_topic).length;
  place.replaceChildren(
    card("What would count", all.length
      ? node("p", {}, node("strong", {}, `${counted} of ${all.length}`), ` page${all.length === 1 ? "" : "s"} fetched for a look would count as on topic.`)
      : node("p", { class: "soft" }, nothing(seen)),
    busy ? node("p", { class: "soft" }, "Fetching pages that they link to…") : "",
    node("p", { class: "line", id: "terms" }, ...seen.terms.slice(0, 20).map(([term]) => node("span", { class: "tag" }, term)))),
    ...(seen.examples.length ? [card("Your examples", list(seen.examples))] : []),
    ...(seen.around.length ? [card("Pages around them", list(seen.around))] : []),
    ...(seen.missed.length ? [card("Not fetched", node("ul", { class: "list" }, ...seen.missed.map(([url, reason]) =>
      node("li", {}, node("bdi", {}, url), " ", node("span", { class: "soft" }, reason)))))] : []));
}

let turn = 0;
let sent = "";
let last = null;

async function ask(data) {
  const answer = await fetch(`${page}/look`, { method: "POST", body: data });
  return answer.ok ? answer.json() : { problem: "the portal does not answer" };
}

async function look() {
  const data = fields();
  if (!data.get("pasted").trim()) {
    if (form.elements.pasted.value.trim()) place.replaceChildren(card("What would count", node("p", { class: "soft" }, WAITS)));
    return;
  }
  if (data.toString() === sent) {
    if (last) show(last, false); // an address is being written: say that it waits
    return;
  }
  if (!data.get("name").trim()) data.set("name", "new topic");
  sent = data.toString();
  last = null;
  const mine = ++turn;
  place.setAttribute("aria-busy", "true");
  // First what is known at once, then the pages around.
  for (const around of ["", "yes"]) {
    data.set("around", around);
    const seen = await ask(data);
    if (mine !== turn) return;
    if (seen.problem) place.replaceChildren(card("What would count", node("p", { class: "message" }, seen.problem)));
    else show(seen, !around && Boolean(data.get("seeds").trim() || /https?:/.test(data.get("pasted"))));
    if (seen.problem) break;
    if (around) last = seen;
  }
  place.removeAttribute("aria-busy");
}

let timer = 0;
const soon = () => { clearTimeout(timer); timer = setTimeout(() => look().catch(() => {}), PAUSE); };
form.addEventListener("input", (event) => {
  if (event.inputType === "insertFromPaste") event.target.dataset.pasted = "yes"; else delete event.target.dataset.pasted;
  soon();
});
form.addEventListener("change", soon);

for (const one of document.querySelectorAll("form.builder")) {
  one.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button) return;
    button.textContent = "Working…";
    // After the form was sent: a disabled button would not be part of it.
    setTimeout(() => { for (const each of one.querySelectorAll("button")) each.disabled = true; }, 0);
  });
  one.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    one.requestSubmit(one.querySelector("#look, #build"));
  });
}
