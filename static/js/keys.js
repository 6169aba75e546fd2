// Arrow keys in a matrix or a map: Tab reaches it once, arrows move, Enter follows the link, Escape goes back.
// Without script every cell is a link in the tab order, so nothing depends on this.

const STEPS = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const CELL = "[data-x], td a[aria-label], [data-grid] button[name=rank]";

function cells(grid) {
  return [...grid.querySelectorAll(CELL)];
}

/** Where a cell stands; in a table without places of its own, its column and row; else where it is drawn. */
function place(cell) {
  if (cell.dataset.x) return [Number(cell.dataset.x), Number(cell.dataset.y)];
  const column = cell.closest("td");
  if (column) return [column.cellIndex, cell.closest("tr").rowIndex];
  const [drawn, ground] = [cell, cell.closest("svg")].map((element) => element.getBoundingClientRect());
  return [Math.round(drawn.left - ground.left), Math.round(drawn.top - ground.top)];
}

/** The cell at the place of another one, after the grid was swapped. */
export function sameCell(root, [x, y]) {
  return cells(root).find((cell) => place(cell).join() === [x, y].join());
}

export function placeOf(target) {
  const cell = target.closest?.(CELL);
  return cell?.closest("[data-grid]") ? place(cell) : null;
}

/** Whether following a link opens something whose heading takes the focus. */
export function opens(link) {
  return Boolean(link?.matches(`${CELL}, [data-opens]`)) && !link.matches("[data-close]");
}

/** Leave one cell in the tab order: the open or selected one, else the first. */
export function rove(root) {
  for (const grid of root.querySelectorAll("[data-grid]")) {
    const all = cells(grid);
    const current = all.find((cell) => cell.matches("[aria-expanded=true], [aria-current=true]")) ?? all[0];
    for (const cell of all) cell.tabIndex = cell === current ? 0 : -1;
    // Names of nodes ask what a list beside the map asks too: Tab need not pass over each.
    for (const name of grid.querySelectorAll("a.dn-name")) name.tabIndex = -1;
  }
}

function focusCell(grid, cell) {
  for (const other of cells(grid)) other.tabIndex = other === cell ? 0 : -1;
  cell.focus();
  cell.scrollIntoView({ block: "nearest", inline: "nearest" });
}

/** The next cell in a direction; gaps (a device without a rank, a row with fewer cells) are stepped over. */
function neighbour(grid, here, [dx, dy]) {
  const [x, y] = place(here);
  const away = (cell) => [place(cell)[0] - x, place(cell)[1] - y];
  const ahead = cells(grid).filter((cell) => {
    const [cx, cy] = away(cell);
    return dx ? cy === 0 && cx * dx > 0 : cy * dy > 0;
  });
  const far = (cell) => Math.abs(away(cell)[1]) * 1000 + Math.abs(away(cell)[0]);
  return ahead.sort((one, other) => far(one) - far(other))[0];
}

function edge(grid, here, key) {
  const row = cells(grid).filter((cell) => place(cell)[1] === place(here)[1]);
  row.sort((one, other) => place(one)[0] - place(other)[0]);
  return key === "Home" ? row[0] : row.at(-1);
}

document.addEventListener("keydown", (event) => {
  if (event.altKey || event.ctrlKey || event.metaKey) return;
  const here = event.target.closest?.(CELL);
  const grid = here?.closest("[data-grid]");
  if (grid && (event.key in STEPS || event.key === "Home" || event.key === "End")) {
    const next = event.key in STEPS ? neighbour(grid, here, STEPS[event.key]) : edge(grid, here, event.key);
    event.preventDefault();
    if (next) focusCell(grid, next);
    return;
  }
  if (event.key !== "Escape") return;
  const close = document.querySelector("[data-close]");
  const panel = event.target.closest?.("[data-opened]");
  if (close && (event.target === document.body || panel || grid)) {
    event.preventDefault();
    close.click();
  } else if (panel) {
    event.preventDefault();
    document.querySelector("[data-grid] :is(a, button[name=rank])[tabindex='0']")?.focus();
  }
});

rove(document);
