// Shows how far background work is, and reloads the page when it has ended.

import { root } from "./dom.js";

const PAUSES = [150, 150, 300, 300, 600];

async function follow(place) {
  const bar = place.querySelector("progress");
  const text = place.querySelector("output");
  for (let turn = 0; ; turn += 1) {
    await new Promise((resolve) => setTimeout(resolve, PAUSES[Math.min(turn, PAUSES.length - 1)]));
    let answer;
    try {
      answer = await fetch(`${root}/jobs/${encodeURIComponent(place.dataset.job)}`);
    } catch {
      text.textContent = "the portal does not answer";
      continue;
    }
    if (!answer.ok) return;
    const job = await answer.json();
    if (job.state === "done" || job.state === "failed") {
      location.reload();
      return;
    }
    if (job.total) {
      bar.max = job.total;
      bar.value = job.done;
      text.textContent = `${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}`;
    }
  }
}

document.querySelectorAll("[data-job]").forEach(follow);
