// Passkeys: a form with data-passkey asks the device before it is sent. data-passkey is where the question stands:
// "#id" of a JSON block, or an address that answers with {"request_options": ...}. data-passkey-make adds a key.
// What the device answers goes into the form's field "credential"; all else is the server's business.

const said = document.getElementById("said");
const canUse = "PublicKeyCredential" in window && "parseRequestOptionsFromJSON" in PublicKeyCredential;

async function question(form) {
  const place = form.dataset.passkey;
  if (place.startsWith("#")) return JSON.parse(document.querySelector(place).textContent);
  const response = await fetch(place, { headers: { Accept: "application/json" } });
  if (!response.ok) throw new Error("Too many attempts. Wait a minute.");
  return (await response.json()).request_options;
}

async function answer(form) {
  const { publicKey } = await question(form);
  if ("passkeyMake" in form.dataset) {
    return navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(publicKey) });
  }
  return navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(publicKey) });
}

function refuse(form, text) {
  let problem = form.querySelector("[data-passkey-problem]");
  if (!problem) {
    problem = document.createElement("p");
    problem.className = "error";
    problem.dataset.passkeyProblem = "";
    form.prepend(problem);
  }
  problem.textContent = text;
  said.textContent = text;
}

function reason(error) {
  if (error.name === "NotAllowedError") return "The device gave no passkey: it has none for this site, or you stopped it.";
  if (error.name === "InvalidStateError") return "This device holds a passkey of yours already.";
  return error.message;
}

async function send(form) {
  if (!canUse) return refuse(form, "This browser cannot use passkeys here. They need https or localhost.");
  try {
    const credential = await answer(form);
    form.elements.credential.value = JSON.stringify(credential.toJSON());
  } catch (error) {
    return refuse(form, reason(error));
  }
  return form.submit();
}

document.addEventListener("submit", (event) => {
  if (!("passkey" in event.target.dataset)) return;
  event.preventDefault();
  send(event.target);
});
