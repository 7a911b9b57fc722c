// The topic builder: says that it is working, and looks again on Ctrl+Enter.

for (const form of document.querySelectorAll("form.builder")) {
  form.addEventListener("submit", (event) => {
    const button = event.submitter;
    if (!button) return;
    button.textContent = "Working…";
    // After the form was sent: a disabled button would not be part of it.
    setTimeout(() => { for (const one of form.querySelectorAll("button")) one.disabled = true; }, 0);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    form.requestSubmit(form.querySelector("#look, #build"));
  });
}
