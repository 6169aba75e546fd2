// Arrow keys in a matrix or a map: Tab reaches it once, arrows move, Enter follows the link, Escape goes back.
// Without script every cell is a link in the tab order, so nothing depends on this.

const STEPS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

function cells(grid) {
  return [...grid.querySelectorAll("[data-x]")];
}

/** Leave one cell in the tab order: the open or selected one, else the first. */
export function rove(root) {
  for (const grid of root.querySelectorAll("[data-grid]")) {
    const all = cells(grid);
    const current = all.find((cell) => cell.matches("[aria-expanded=true], [aria-current=true]")) ?? all[0];
    for (const cell of all) cell.tabIndex = cell === current ? 0 : -1;
  }
}

function focusCell(grid, cell) {
  for (const other of cells(grid)) other.tabIndex = other === cell ? 0 : -1;
  cell.focus();
  cell.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** The next cell in a direction; gaps (a device without a rank, a row with fewer cells) are stepped over. */
function neighbour(grid, here, [dx, dy]) {
  const [x, y] = [Number(here.dataset.x), Number(here.dataset.y)];
  const ahead = cells(grid).filter((cell) => {
    const [cx, cy] = [Number(cell.dataset.x) - x, Number(cell.dataset.y) - y];
    return dx ? cy === 0 && cx * dx > 0 : cy * dy > 0;
  });
  const far = (cell) =>
    Math.abs(Number(cell.dataset.y) - y) * 1000 + Math.abs(Number(cell.dataset.x) - x);
  return ahead.sort((one, other) => far(one) - far(other))[0];
}

function edge(grid, here, key) {
  const row = cells(grid).filter((cell) => cell.dataset.y === here.dataset.y);
  row.sort((one, other) => Number(one.dataset.x) - Number(other.dataset.x));
  return key === "Home" ? row[0] : row.at(-1);
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const here = event.target.closest?.("[data-x]");
  const grid = here?.closest("[data-grid]");
  if (grid && (event.key in STEPS || event.key === "Home" || event.key === "End")) {
    const next = event.key in STEPS ? neighbour(grid, here, STEPS[event.key]) : edge(grid, here, event.key);
    event.preventDefault();
    if (next) focusCell(grid, next);
    return;
  }
  if (event.key !== "Escape") return;
  const opened = document.querySelector("[data-close]");
  if (opened && (event.target === document.body || event.target.closest("[data-grid], [data-opened]"))) {
    event.preventDefault();
    opened.click();
  }
});

rove(document);
