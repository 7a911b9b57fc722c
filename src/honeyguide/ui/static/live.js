// The live view: figures come as server-sent events and are drawn as they come.

import { bars, circles, histogram, line } from "./charts.js";
import { node, root, score, share, whole } from "./dom.js";

const byId = (id) => document.getElementById(id);
const seconds = (value) => value < 90 ? `${Math.round(value)} s` : value < 5400 ? `${Math.round(value / 60)} min` : `${(value / 3600).toFixed(1)} h`;
const bytes = (value) => value < 1e6 ? `${Math.round(value / 1e3)} kB` : value < 1e9 ? `${(value / 1e6).toFixed(1)} MB` : `${(value / 1e9).toFixed(2)} GB`;

function put(name, text, more = "") {
  const place = document.querySelector(`[data-of="${name}"]`);
  place.replaceChildren(text, ...(more ? [node("small", {}, more)] : []));
}

function tiles({ overview, standing, estimate }) {
  const budget = standing.budget || {};
  put("pages", whole(overview.pages), budget.max_pages ? `of ${whole(budget.max_pages)}` : "");
  put("relevant", whole(overview.relevant), budget.max_relevant ? `of ${whole(budget.max_relevant)}` : "");
  put("harvest", share(overview.harvest));
  put("recent", share(overview.recent_harvest));
  put("rate", overview.rate.toFixed(1), standing.running ? "last 30 s" : "whole crawl");
  put("waiting", whole(overview.waiting), `of ${whole(overview.known)} known`);
  put("hosts", whole(overview.hosts));
  if (estimate) {
    put("recall", share(estimate.share, 0), `${share(estimate.share_low, 0)} to ${share(estimate.share_high, 0)}`);
  }
  byId("advice").replaceChildren(estimate ? estimate.advice : "");
}

function standing({ standing: now, overview }) {
  const word = now.paused ? "paused" : now.running ? "crawling" : "not running";
  byId("state").replaceChildren(
    node("span", { class: now.running ? "tag busy" : "tag" }, word), " ",
    node("span", { class: "soft" }, now.running ? `run ${now.session}` : now.reason));
  const holds = { running: now.running, ended: !now.running, paused: now.paused, going: now.running && !now.paused };
  const focused = document.activeElement;
  for (const part of document.querySelectorAll("[data-when]")) part.hidden = !holds[part.dataset.when];
  // A button that goes takes the keyboard's place with it: its successor gets that.
  if (focused?.closest(".steer [hidden]")) document.querySelector(".steer button[data-when]:not([hidden])")?.focus();
  for (const input of document.querySelectorAll("#limits input")) {
    if (input.dataset.touched || !now.budget) continue; // what somebody is writing stays
    input.value = now.budget[input.name] ?? "";
  }
  byId("spent").replaceChildren(
    `${seconds(overview.seconds)} of crawling, ${whole(overview.requests)} request${overview.requests === 1 ? "" : "s"}, ${bytes(overview.bytes)} of pages, ${whole(now.sessions)} run${now.sessions === 1 ? "" : "s"}`);
}

function charts({ overview, estimate, breadth_first: beside }) {
  const pages = (value) => value === 1 ? "1 page" : `${whole(value)} pages`;
  const curve = overview.curve;
  line(byId("curve"), curve.map((point) => [point[0], point[1]]), {
    label: `Pages on topic over pages fetched: ${overview.relevant} of ${overview.pages}`, x: pages, height: 300,
    beside: { points: beside },
    band: estimate ? [estimate.total_low, estimate.total_high, `about ${whole(Math.round(estimate.total))} on topic in all`] : null });
  line(byId("recent"), curve.map((point) => [point[0], point[2]]), {
    label: `Share of pages on topic among the last 200: ${share(overview.recent_harvest)}`, x: pages, top: 1,
    y: (value) => share(value, 0), kind: "good" });
  line(byId("rates"), overview.rates, {
    label: `Pages a second, now ${overview.rate.toFixed(1)}`, x: (value) => value > -0.5 ? "now" : `${seconds(-value)} ago`,
    y: (value) => String(+value.toPrecision(3)), kind: "cool" });
  histogram(byId("scores"), overview.frontier_scores, { label: "Waiting addresses by priority" });
  byId("hosts").replaceChildren(bars(
    overview.frontier_hosts.map((host) => [host.name, host.waiting, whole(host.fetched), whole(host.relevant)]),
    { head: ["Host", "Share", "Waiting", "Fetched", "On topic"], link: (name) => `${root}/urls?${new URLSearchParams({ outcome: "waiting", host: name })}` }),
  node("p", { class: "soft" }, overview.other_hosts ? `and ${whole(overview.other_hosts)} more hosts with waiting addresses` : ""));
  const ends = overview.outcomes;
  const settings = ends.some((end) => end.setting);
  byId("outcomes").replaceChildren(bars(ends.map((end) => [end.label, end.urls, ...(settings ? [end.setting] : [])]), {
    head: ["Outcome", "Share", "Addresses", ...(settings ? ["Change it with"] : [])],
    link: (label) => `${root}/urls?${new URLSearchParams({ outcome: ends.find((end) => end.label === label).name })}` }));
  circles(byId("map"), overview.largest_hosts, {
    label: `${whole(overview.hosts)} host${overview.hosts === 1 ? "" : "s"}, the largest: ${overview.largest_hosts.slice(0, 5).map((host) => host.name).join(", ")}`,
    link: (name) => `${root}/search?${new URLSearchParams({ host: name, verdict: "all" })}` });
}

// Why pages were judged as they were: asked for one after the other, and kept for as long as the verdict stands.
const reasons = new Map();
const wanted = [];
let asking = false;

async function explain() {
  if (asking) return;
  asking = true;
  while (wanted.length) {
    const page = wanted.shift();
    const key = `${page.row} ${page.score}`;
    try {
      const answer = await fetch(`${root}/page/${page.row}/why.json`);
      if (answer.ok) reasons.set(key, await answer.json());
    } catch { break; }
    for (const cell of document.querySelectorAll(`[data-why="${key}"]`)) cell.replaceChildren(...why(page));
    // Explaining must not slow the crawl.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  asking = false;
}

function why(page) {
  const known = reasons.get(`${page.row} ${page.score}`);
  if (!known) return [node("span", { class: "soft" }, "…")];
  return [
    known.words.length ? node("div", { class: "words" }, node("bdi", {}, known.words.join(", "))) : node("span", { class: "soft" }, "nothing on it speaks for the topic"),
    known.sentences.length ? node("q", { class: "said" }, node("bdi", {}, known.sentences[0])) : ""];
}

function lists({ overview }) {
  wanted.length = 0;
  wanted.push(...overview.last_pages.filter((page) => !reasons.has(`${page.row} ${page.score}`)));
  byId("pages").replaceChildren(...overview.last_pages.map((page) => node("tr", {},
    node("td", {}, node("span", { class: page.on_topic ? "tag good" : "tag" }, page.on_topic ? "on topic" : "off topic"), node("div", { class: "soft small" }, score(page.score))),
    node("td", {}, node("a", { class: "title", href: `${root}/page/${page.row}` }, node("bdi", {}, page.title || page.url)),
      node("div", { class: "url" }, node("bdi", {}, page.url))),
    node("td", { "data-why": `${page.row} ${page.score}` }, ...why(page)))));
  explain();
  byId("dropped").replaceChildren(...overview.last_drops.map((drop) => node("tr", {},
    node("td", {}, node("span", { class: "tag" }, drop.outcome)),
    node("td", { class: "url" }, node("a", { href: `${root}/page?${new URLSearchParams({ url: drop.url })}` }, node("bdi", {}, drop.url))),
    node("td", {}, node("bdi", {}, drop.reason), drop.setting ? node("div", { class: "soft" }, `change it with ${drop.setting}`) : ""))));
}

/** The picture in one sentence. */
function story({ overview, estimate, breadth_first: beside }) {
  const last = beside[beside.length - 1];
  const at = last ? overview.curve.find((point) => point[0] >= last[0]) : null;
  const told = ["Pages on topic over pages fetched."];
  if (at && last[1] >= 1 && at[1] > 1.2 * last[1]) told.push(`About ${(at[1] / last[1]).toFixed(1)} times as many as breadth-first would have found (a rough estimate).`);
  if (estimate) told.push(`The band is where the number of pages on topic in all probably lies: ${whole(estimate.total_low)} to ${whole(estimate.total_high)}.`);
  byId("story").replaceChildren(told.join(" "));
  byId("legend-beside").hidden = beside.length < 2;
  byId("legend-band").hidden = !estimate;
}

/** What the crawl does now, in one sentence. */
function doing({ overview, standing: now }) {
  const next = overview.frontier_hosts[0], lost = overview.last_drops[0];
  const found = `${whole(overview.relevant)} of ${whole(overview.pages)} page${overview.pages === 1 ? "" : "s"} on topic`;
  const where = next ? `, most of what waits is on ${next.name}` : "";
  const told = now.paused ? `Paused with ${found}.`
    : now.running && overview.rests ? `Waiting: ${overview.rests}. So far ${found}.`
    : now.running ? `Fetching ${overview.rate.toFixed(1)} pages a second: ${found}, ${share(overview.recent_harvest, 0)} of the last 200${where}.`
    : overview.pages ? `Finished with ${found}; ${whole(overview.waiting)} addresses wait.`
    : lost && !overview.waiting ? `No page could be fetched: ${lost.outcome}${lost.reason ? ` (${lost.reason})` : ""} at ${lost.url}. Name other addresses to begin with on the page Topic.`
    : "Nothing has been fetched yet. Continue the crawl to begin.";
  byId("doing").replaceChildren(told);
}

byId("limits").addEventListener("input", (event) => { event.target.dataset.touched = "yes"; });

const stream = new EventSource(`${root}/events`);
stream.addEventListener("figures", (event) => {
  const figures = JSON.parse(event.data);
  story(figures);
  tiles(figures);
  standing(figures);
  charts(figures);
  lists(figures);
  doing(figures);
  document.body.dataset.ticks = String(Number(document.body.dataset.ticks || 0) + 1);
});
stream.addEventListener("problem", (event) => byId("state").replaceChildren(JSON.parse(event.data)));
stream.onerror = () => byId("state").replaceChildren(node("span", { class: "tag bad" }, "no connection"), " trying again");
