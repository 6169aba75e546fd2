// Says that a map goes on where it is wider than its frame; how wide it is depends on the hardware.

const watcher = new ResizeObserver((entries) => {
  for (const { target } of entries) target.previousElementSibling.hidden = target.scrollWidth <= target.clientWidth;
});

function watch() {
  watcher.disconnect();
  for (const frame of document.querySelectorAll(".map-frame")) watcher.observe(frame);
}

watch();
document.addEventListener("htmx:afterSettle", watch);
