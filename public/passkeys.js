/**
 * Passkeys: asks the browser for one when a form with `data-passkey` is posted, and posts the browser's answer with it. Without this script,
 * and in browsers without passkeys, these forms stay hidden, and people use their password.
 */
const PROBLEMS = {
  InvalidStateError: "This device already has a passkey for your account. Use another device, or remove that passkey first.",
  NotAllowedError: "No passkey was used. Try again, or continue without one.",
  SecurityError: "Passkeys do not work at this address. Open Docket at its usual address.",
};

/** The browser's result for the options of the server. */
const ASK = {
  create: (options) => navigator.credentials.create({ publicKey: PublicKeyCredential.parseCreationOptionsFromJSON(options) }),
  get: (options) => navigator.credentials.get({ publicKey: PublicKeyCredential.parseRequestOptionsFromJSON(options) }),
};

/** An error with a message of the server. */
class Refused extends Error {}

/** The options of the server at `path` for the fields of `form`. */
async function optionsFor(form, path) {
  const body = new URLSearchParams(new FormData(form));
  const answer = await fetch(path, { method: "POST", headers: { accept: "application/json" }, body });
  const said = await answer.json();
  if (!answer.ok) throw new Refused(said.message);
  return JSON.parse(said).publicKey;
}

function wordsFor(error) {
  if (error instanceof Refused) return error.message;
  return PROBLEMS[error.name] ?? "Docket or the passkey could not be reached. Check your connection, and try again.";
}

/** Asks for an existing passkey, if the form needs a proof and its person typed no code. */
async function prove(form) {
  if (!form.dataset.proof || form.elements.code.value.trim()) return;
  form.elements.proof.value = "";
  form.elements.proof.value = JSON.stringify(await ASK.get(await optionsFor(form, form.dataset.proof)));
}

async function submit(event) {
  const form = event.target;
  // With a code, the form that asks for an existing passkey is posted as without this script.
  if (form.dataset.passkey === "get" && form.elements.code?.value.trim()) return;
  event.preventDefault();
  const button = form.querySelector("[type=submit]");
  const problem = form.querySelector("[role=alert]");
  problem.hidden = button.disabled = true;
  try {
    await prove(form);
    const credential = await ASK[form.dataset.passkey](await optionsFor(form, form.dataset.options));
    form.elements.credential.value = JSON.stringify(credential);
    // The server checked these with the options. They are not sent again.
    for (const name of ["password", "code", "proof"]) if (form.elements[name]) form.elements[name].value = "";
    form.submit();
  } catch (error) {
    problem.querySelector("p").textContent = wordsFor(error);
    problem.hidden = false;
  }
  button.disabled = false;
}

if (window.PublicKeyCredential?.parseRequestOptionsFromJSON) {
  for (const part of document.querySelectorAll("[data-passkeys]")) part.hidden = part.dataset.passkeys === "without";
  for (const form of document.querySelectorAll("form[data-passkey]")) form.addEventListener("submit", submit);
}
