// Where the tabs of a page are wider than the screen, they scroll: begin with the current one in sight.

const current = document.querySelector('.tabs [aria-current="page"]');
if (current !== null) {
  const row = current.parentElement;
  row.scrollLeft = current.offsetLeft - row.offsetLeft - (row.clientWidth - current.offsetWidth) / 2;
}
