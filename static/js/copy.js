// Copies the text of a button's data-copy and says so to everybody, also to a screen reader.

const said = document.getElementById("said");

async function copy(button) {
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
  } catch {
    said.textContent = "The browser does not allow copying here.";
    return;
  }
  const label = button.getAttribute("aria-label");
  button.setAttribute("aria-label", "Copied");
  button.dataset.copied = "";
  said.textContent = `${label.replace("Copy", "Copied")}.`;
  setTimeout(() => {
    button.setAttribute("aria-label", label);
    delete button.dataset.copied;
  }, 2000);
}

document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-copy]");
  if (button) copy(button);
});
