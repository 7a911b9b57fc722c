// What explains a priority takes a moment to load: ask for it once, then show the page with it.

const place = document.getElementById("later");
if (place) {
  fetch(place.dataset.load).then((answer) => answer.json()).then((told) => {
    if (told.ready) location.reload();
    else place.textContent = `Not known: ${told.problem}`;
  }).catch(() => { place.textContent = "The portal does not answer."; });
}
