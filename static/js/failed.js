// A form that was not taken keeps what was typed, and above it stands in words what happened; it can be sent again.

const KEPT = "What you typed is still here";

/** Whether an answer of the server can stand in the place that its form names. */
function fits(answer, elt) {
  const select = elt.closest("[hx-select]")?.getAttribute("hx-select");
  return !answer.querySelector("[data-why]") && (!select || answer.querySelector(select));
}

function parsed(xhr) {
  return new DOMParser().parseFromString(xhr.response || "", "text/html");
}

/** What a page that says no says: its heading and its sentence; a program in front of the server has no such page. */
function wordsOf(answer, status) {
  const heading = answer.querySelector("main :is(h1, h2)")?.textContent;
  if (!heading) return `The server answered ${status}.`;
  const sentence = status < 500 ? answer.querySelector("main :is(.prose, [data-said])")?.textContent : "";
  return [`${heading}.`, sentence].filter(Boolean).join(" ");
}

function removeAbove(form) {
  if (form?.previousElementSibling?.matches("[data-failed]")) form.previousElementSibling.remove();
}

function say(form, text, link, isSent) {
  removeAbove(form);
  const strip = document.createElement("div");
  strip.className = "strip strip-fail";
  strip.dataset.failed = "";
  strip.setAttribute("role", "alert");
  strip.append(text);
  if (link) strip.append(link);
  form.before(strip);
  // What is only checked while somebody types moves nothing.
  if (isSent) strip.scrollIntoView({ block: "center" });
}

/** Where to log in, in a window of its own. */
function loginOf(answer) {
  const link = document.createElement("a");
  link.className = "btn btn-s strip-end";
  link.target = "_blank";
  link.href = answer.querySelector("main a.btn").getAttribute("href");
  link.textContent = "Log in, in a new window";
  return link;
}

/** Give every form of the page the token of a page that is opened now; one from before a login is not taken. */
async function renewTokens() {
  const text = await fetch(location.href).then((answer) => answer.text()).catch(() => "");
  const page = new DOMParser().parseFromString(text, "text/html");
  const fresh = page.querySelector("[name=csrfmiddlewaretoken]")?.value;
  if (!fresh) return false;
  for (const field of document.querySelectorAll("[name=csrfmiddlewaretoken]")) field.value = fresh;
  return true;
}

async function sayWhy(form, answer, status, isSent) {
  const why = answer.querySelector("[data-why]")?.dataset.why;
  if (why === "form" && (await renewTokens())) {
    say(form, `This page was opened before you logged in. ${KEPT}: send it again.`, null, isSent);
  } else if (why === "login") {
    say(form, `You are not logged in any more. ${KEPT}: log in, then send it again here.`, loginOf(answer), isSent);
  } else {
    const again = status >= 500 || status === 429 ? `${KEPT}: wait a moment and send it again.` : `${KEPT}.`;
    say(form, `${wordsOf(answer, status)} ${again}`, null, isSent);
  }
}

function sentBy({ requestConfig }) {
  const { elt, triggeringEvent, verb } = requestConfig;
  return { elt, form: verb === "get" ? null : elt.closest("form"), isSent: triggeringEvent?.type === "submit" };
}

document.addEventListener("htmx:beforeSwap", (event) => {
  const { xhr } = event.detail;
  const { elt, form, isSent } = sentBy(event.detail);
  if (!form) return;
  removeAbove(form);
  const answer = parsed(xhr);
  if (xhr.status < 400 || (event.detail.shouldSwap && fits(answer, elt))) return;
  event.detail.shouldSwap = false;
  sayWhy(form, answer, xhr.status, isSent);
});

document.addEventListener("htmx:sendError", (event) => {
  const { form, isSent } = sentBy(event.detail);
  const text = "The server did not answer.";
  if (form) say(form, `${text} ${KEPT}: wait a moment and send it again.`, null, isSent);
  else if (event.detail.requestConfig.triggeringEvent) document.getElementById("said").textContent = text;
});

// Of what somebody follows an error page is a page of its own: go there rather than showing nothing. What the page asks
// by itself, as for progress, is left as it is.
document.addEventListener("htmx:responseError", (event) => {
  const { pathInfo, requestConfig } = event.detail;
  if (requestConfig.verb === "get" && requestConfig.triggeringEvent) location.assign(pathInfo.requestPath);
});
