// Where a row of tabs, pages or steps is wider than the screen, it scrolls: begin with the current one in sight.

for (const row of document.querySelectorAll(".nav, .tabs, .cb-steps")) {
  const current = row.querySelector('[aria-current="page"], [aria-current="step"]');
  if (current !== null) {
    const [frame, one] = [row.getBoundingClientRect(), current.getBoundingClientRect()];
    row.scrollLeft += one.left - frame.left - (frame.width - one.width) / 2;
  }
}
