// Files dropped on the upload frame go into its file field; the names are listed as a choice by hand would be.

const frame = document.querySelector("[data-drop]");
const field = frame?.querySelector("input[type=file]");
const list = document.getElementById("chosen");

function size(bytes) {
  return bytes < 2 ** 20 ? `${Math.max(1, Math.round(bytes / 2 ** 10))} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}

function show() {
  list.replaceChildren(
    ...[...field.files].map((file) => {
      const row = document.createElement("li");
      row.textContent = `${file.name}, ${size(file.size)}`;
      return row;
    }),
  );
}

if (frame && field) {
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
    show();
  });
  field.addEventListener("change", show);
}
