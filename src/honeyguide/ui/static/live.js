// The live view: figures come as server-sent events and are drawn as they come.

import { bars, histogram, line } from "./charts.js";
import { node, score, share, whole } from "./dom.js";

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
  for (const part of document.querySelectorAll("[data-when]")) part.hidden = !holds[part.dataset.when];
  for (const input of document.querySelectorAll("#limits input")) {
    if (input.dataset.touched || !now.budget) continue; // what somebody is writing stays
    input.value = now.budget[input.name] ?? "";
  }
  byId("spent").replaceChildren(
    `${seconds(overview.seconds)} of crawling, ${whole(overview.requests)} requests, ${bytes(overview.bytes)} of pages, ${whole(now.sessions)} run${now.sessions === 1 ? "" : "s"}`);
}

function charts({ overview }) {
  const pages = (value) => value === 1 ? "1 page" : `${whole(value)} pages`;
  const curve = overview.curve;
  line(byId("curve"), curve.map((point) => [point[0], point[1]]), {
    label: `Relevant pages over pages fetched: ${overview.relevant} of ${overview.pages}`, x: pages, height: 220 });
  line(byId("recent"), curve.map((point) => [point[0], point[2]]), {
    label: `Share of relevant pages among the last 200: ${share(overview.recent_harvest)}`, x: pages, top: 1,
    y: (value) => share(value, 0), kind: "good" });
  line(byId("rates"), overview.rates, {
    label: `Pages a second, now ${overview.rate.toFixed(1)}`, x: (value) => value > -0.5 ? "now" : `${seconds(-value)} ago`,
    y: (value) => String(+value.toPrecision(3)), kind: "cool" });
  histogram(byId("scores"), overview.frontier_scores, { label: "Waiting addresses by priority" });
  byId("hosts").replaceChildren(bars(
    overview.frontier_hosts.map((host) => [host.name, host.waiting, whole(host.fetched), whole(host.relevant)]),
    { head: ["Host", "", "Waiting", "Fetched", "Relevant"], link: (name) => `/urls?${new URLSearchParams({ outcome: "waiting", host: name })}` }),
  node("p", { class: "soft" }, overview.other_hosts ? `and ${whole(overview.other_hosts)} more hosts with waiting addresses` : ""));
  byId("outcomes").replaceChildren(bars(overview.outcomes, {
    head: ["Outcome", "", "Addresses"], link: (name) => `/urls?${new URLSearchParams({ outcome: name })}` }));
}

function lists({ overview }) {
  byId("pages").replaceChildren(...overview.last_pages.map((page) => node("tr", {},
    node("td", {}, node("span", { class: page.on_topic ? "tag good" : "tag" }, page.on_topic ? "on topic" : "off topic")),
    node("td", { class: "number" }, score(page.score)),
    node("td", {}, node("a", { class: "title", href: `/page/${page.row}` }, node("bdi", {}, page.title || page.url)),
      node("div", { class: "url" }, node("bdi", {}, page.url))),
    node("td", {}, node("bdi", {}, page.reason)))));
  byId("dropped").replaceChildren(...overview.last_drops.map((drop) => node("tr", {},
    node("td", {}, node("span", { class: "tag" }, drop.outcome)),
    node("td", { class: "url" }, node("a", { href: `/page?${new URLSearchParams({ url: drop.url })}` }, node("bdi", {}, drop.url))),
    node("td", {}, node("bdi", {}, drop.reason)))));
}

byId("limits").addEventListener("input", (event) => { event.target.dataset.touched = "yes"; });

const stream = new EventSource("/events");
stream.addEventListener("figures", (event) => {
  const figures = JSON.parse(event.data);
  tiles(figures);
  standing(figures);
  charts(figures);
  lists(figures);
  document.body.dataset.ticks = String(Number(document.body.dataset.ticks || 0) + 1);
});
stream.addEventListener("problem", (event) => byId("state").replaceChildren(JSON.parse(event.data)));
stream.onerror = () => byId("state").replaceChildren(node("span", { class: "tag bad" }, "no connection"), " trying again");
