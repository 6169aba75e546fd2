// Files dropped on an upload frame go into its file field; the names are listed as a choice by hand would be.

function size(bytes) {
  return bytes < 2 ** 20 ? `${Math.max(1, Math.round(bytes / 2 ** 10))} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function show(field, list) {
  list.replaceChildren(
    ...[...field.files].map((file) => {
      const row = document.createElement("li");
      row.textContent = `${file.name}, ${size(file.size)}`;
      return row;
    }),
  );
}

function bind(frame) {
  const field = frame.querySelector("input[type=file]");
  const list = frame.querySelector("#chosen");
  frame.dataset.drop = "bound";
  for (const name of ["dragenter", "dragover"]) {
    frame.addEventListener(name, (event) => {
      event.preventDefault();
      frame.classList.add("drop-over");
    });
  }
  for (const name of ["dragleave", "drop"]) {
    frame.addEventListener(name, () => frame.classList.remove("drop-over"));
  }
  frame.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) field.files = event.dataTransfer.files;
    show(field, list);
  });
  field.addEventListener("change", () => show(field, list));
}

// Binds every frame that is not bound yet: a swap of a part of the page brings new ones.
export function bindDrop(root) {
  for (const frame of root.querySelectorAll("[data-drop='']")) bind(frame);
}

bindDrop(document);
