// The evidence builder's enhancement: files dropped anywhere on a frame go into its field, and a long upload says how
// far it is. Without script the field and the button do the same.

import { bindDrop } from "./drop.js";

document.addEventListener("htmx:afterSettle", () => bindDrop(document));

function mib(bytes) {
  return `${(bytes / 2 ** 20).toFixed(bytes < 10 * 2 ** 20 ? 1 : 0)} MiB`;
}

document.addEventListener("htmx:xhr:progress", (event) => {
  const form = event.target.closest?.("[data-upload]");
  const { lengthComputable, loaded, total } = event.detail;
  if (!form || !lengthComputable || !total) return;
  const text = form.querySelector("[data-progress]");
  const meter = form.querySelector("[data-meter]");
  text.hidden = false;
  meter.removeAttribute("hidden");
  text.textContent =
    loaded < total ? `Sending, ${mib(loaded)} of ${mib(total)}.` : "Sent. Taking out secrets and reading.";
  meter.querySelector(".meter-on").setAttribute("width", String(Math.round((100 * loaded) / total)));
});
