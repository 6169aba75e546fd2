// Switches light and dark in place, so that no form on the page loses what was typed; the server keeps the choice.

const button = document.querySelector("[data-theme-switch]");
const root = document.documentElement;

function other(theme) {
  return theme === "dark" ? "light" : "dark";
}

function seen() {
  return root.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
}

if (button) {
  // The server alone would not know the system's choice.
  button.value = other(seen());
  button.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const chosen = other(seen());
    const body = new FormData(button.form);
    body.set("theme", chosen);
    root.dataset.theme = chosen;
    button.value = other(chosen);
    document.dispatchEvent(new Event("theme"));
    // Not kept when the server does not answer: the page is switched all the same, and the next one as before.
    fetch(button.form.action, { method: "POST", body, redirect: "manual" }).catch(() => {});
  });
}
