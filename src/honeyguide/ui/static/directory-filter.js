// Filters the list on this page while one types. A classic script: modules do not load from file://.
"use strict";
(function () {
  var box = document.querySelector(".filter");
  var list = document.querySelector("[data-filtered]");
  if (!box || !list) return;
  var input = box.querySelector("input");
  var output = box.querySelector("output");
  var kind = list.getAttribute("data-filtered");
  var items = kind ? list.querySelectorAll(kind) : list.children;
  function apply() {
    var words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
    var shown = 0;
    Array.prototype.forEach.call(items, function (item) {
      var text = item.textContent.toLowerCase();
      item.hidden = !words.every(function (word) { return text.indexOf(word) >= 0; });
      if (!item.hidden) shown += 1;
    });
    output.textContent = words.length ? shown + " of " + items.length : "";
  }
  input.addEventListener("input", apply);
  box.hidden = false;
})();
