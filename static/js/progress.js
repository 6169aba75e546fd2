// Follows a worker (a plan, a verification, an export): reads the page again, quickly at first, and loads it anew once
// it shows no progress any more. Without script the page reloads itself.

const FIRST = [120, 150, 200, 300, 400, 600, 1000];
const LATER = 2000;

async function look(tries) {
  const shown = document.getElementById("progress");
  if (!shown) return;
  let page;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" }, cache: "no-store" });
    if (answer.redirected || !answer.ok) return location.reload();
    page = new DOMParser().parseFromString(await answer.text(), "text/html");
  } catch {
    return wait(tries);
  }
  const next = page.getElementById("progress");
  if (!next) return location.reload();
  for (const part of shown.querySelectorAll("[data-live]")) {
    const fresh = next.querySelector(`[data-live="${part.dataset.live}"]`);
    if (fresh && !fresh.isEqualNode(part)) part.replaceChildren(...fresh.cloneNode(true).childNodes);
  }
  wait(tries);
}

function wait(tries) {
  setTimeout(look, FIRST[tries] ?? LATER, tries + 1);
}

wait(0);
