// Makes the theme button switch away from what is seen now; the server alone would not know the system's choice.

const button = document.querySelector("[data-theme-switch]");
const root = document.documentElement;
if (button && !root.dataset.theme) {
  button.value = matchMedia("(prefers-color-scheme: dark)").matches ? "light" : "dark";
}
