// After htmx has swapped a part of the page: where the focus goes, what is said, and what a failure does.

import { rove } from "./keys.js";

const said = document.getElementById("said");
let opener = null;

document.addEventListener("click", (event) => {
  const cell = event.target.closest("[data-key]");
  if (cell) opener = cell.dataset.key;
});

// A link names the place to jump to on a full load; a swap never scrolls.
document.addEventListener("htmx:beforeSwap", (event) => {
  event.detail.pathInfo.anchor = undefined;
});

document.addEventListener("htmx:afterSettle", (event) => {
  rove(document);
  const target = document.getElementById(event.detail.target.id) ?? document;
  const heading = document.querySelector("[data-focus]");
  if (heading && event.detail.requestConfig.elt?.matches("[data-opens]")) {
    heading.focus({ preventScroll: true });
    said.textContent = heading.dataset.focus || heading.textContent;
    return;
  }
  const back = opener && target.querySelector(`[data-key="${CSS.escape(opener)}"]`);
  if (back) back.focus({ preventScroll: true });
});

// An error page is a page of its own: go there rather than showing nothing.
document.addEventListener("htmx:responseError", (event) => {
  location.assign(event.detail.pathInfo.requestPath);
});
document.addEventListener("htmx:sendError", () => {
  said.textContent = "The server did not answer. Nothing was changed.";
});
