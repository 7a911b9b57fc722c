// Review with the keyboard; says when decisions have been applied, and how the frontier moved.

import { node, root, whole } from "./dom.js";

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat) return;
  if (event.target.closest("input, textarea, select")) return;
  const control = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (!control || control.disabled) return;
  event.preventDefault();
  control.click();
});

const place = document.getElementById("taken");
const list = document.getElementById("frontier");

function several(count, thing) {
  return `${whole(count || 0)} ${thing}${count === 1 ? "" : "s"}`;
}

function told(state) {
  if (state.problem && !state.busy) return `The decisions could not be applied: ${state.problem}`;
  if (state.written !== state.taken) return state.busy ? "Decisions are being applied…" : "Decisions are kept; they are applied when the crawl goes on.";
  if (!state.taken) return "No decision yet.";
  const of = state.learned;
  const was = place.dataset.was;
  const moved = was === "" ? "" : Number(was) === state.relevant ? `Still ${whole(state.relevant)} on topic. ` : `${whole(was)} → ${whole(state.relevant)} on topic. `;
  return `${moved}All decisions have been applied: ${several(of.pages, "page")} judged again, ${several(of.verdicts, "verdict")} and ${whole(of.changed || 0)} priorities changed.`;
}

async function look() {
  const answer = await fetch(`${root}/review/state`, { headers: { accept: "application/json" } });
  if (!answer.ok) return;
  const state = await answer.json();
  const text = told(state);
  if (place.textContent !== text) place.textContent = text;
  place.dataset.written = state.written;
  place.dataset.taken = state.taken;
  list.replaceChildren(...state.frontier.map(([url]) =>
    node("li", {}, node("bdi", {}, url))));
  document.getElementById("relevant").textContent = whole(state.relevant);
}

// What decided is in sight without scrolling.
const text = document.getElementById("text");
const mark = text && text.querySelector("mark");
if (mark) text.scrollTop = Math.max(0, mark.offsetTop - text.offsetTop - text.clientHeight / 3);

setInterval(() => { if (!document.hidden) look().catch(() => {}); }, 1000);
look().catch(() => {});
