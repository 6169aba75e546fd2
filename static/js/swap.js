// After htmx has swapped a part of the page: where the focus goes, and what is said.

import { opens, placeOf, rove, sameCell } from "./keys.js";

const said = document.getElementById("said");
let opener = null;

document.addEventListener("click", (event) => {
  opener = placeOf(event.target) ?? opener;
});

// A link of a drawing is no HTML link, so htmx leaves it alone: it is fetched in the same way by hand.
document.addEventListener("click", (event) => {
  const link = event.target.closest("svg a[href]");
  const asksForMore = event.ctrlKey || event.metaKey || event.shiftKey || event.button;
  if (!link?.closest("[hx-boost=true]") || asksForMore || !globalThis.htmx) return;
  if (link instanceof HTMLAnchorElement) return;
  event.preventDefault();
  const path = link.getAttribute("href");
  globalThis.htmx.ajax("GET", path, { source: link, event, push: path });
});

document.addEventListener("htmx:beforeSwap", (event) => {
  const { pathInfo, xhr } = event.detail;
  // A link names the place to jump to on a full load; a swap never scrolls.
  pathInfo.anchor = undefined;
  // An act that succeeded leads to another page: go there instead of taking a part of it.
  const answered = new URL(xhr.responseURL);
  if (answered.pathname !== new URL(pathInfo.requestPath, location.href).pathname) {
    event.detail.shouldSwap = false;
    location.assign(answered);
  }
});

document.addEventListener("htmx:afterSettle", (event) => {
  rove(document);
  const target = document.getElementById(event.detail.target.id) ?? document;
  const heading = document.querySelector("[data-focus]");
  const { elt } = event.detail.requestConfig;
  // What was refused is said at the top of its part, and the button may be far below it.
  if (event.detail.xhr.status >= 400) target.querySelector("[role=alert]")?.scrollIntoView({ block: "center" });
  if (heading && opens(elt)) {
    heading.focus({ preventScroll: true });
    // Only where it is out of sight: what is seen already does not move.
    heading.scrollIntoView({ block: "nearest" });
    said.textContent = heading.dataset.focus || heading.textContent;
    return;
  }
  // Whatever has an id keeps the focus by itself; a closed cell or panel gives it back to where it was opened.
  if (opener && elt?.matches("[data-close]")) sameCell(target, opener)?.focus({ preventScroll: true });
});
