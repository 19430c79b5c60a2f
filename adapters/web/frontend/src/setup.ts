// The page that sets the program up: what a pasted secret is, at once; what is waited for; and the end.
import { find } from "./lib/dom";

const RETRY_MS = 1000;
const MAX_TRIES = 180; // of the last page, until it says where to look

interface Recognized {
  text: string;
  move: string;
}

function post(path: string, values: Record<string, string> = {}): Promise<Response> {
  return fetch(path, { method: "POST", body: new URLSearchParams(values) });
}

function say(input: HTMLInputElement, text: string): void {
  const said = document.getElementById(`${input.id}-said`);
  if (said) {
    said.textContent = text;
  }
  input.setAttribute("aria-invalid", String(text !== ""));
}

/** Says what is wrong with a pasted secret, and puts one of another field there. */
async function recognize(input: HTMLInputElement, platform: string): Promise<void> {
  const value = input.value;
  const response = await post("/setup/recognize", { platform, setting: input.name, value });
  if (!response.ok || input.value !== value) {
    return;
  }
  const found = (await response.json()) as Recognized;
  say(input, found.text);
  const other = found.move ? document.getElementById(found.move) : null;
  if (other instanceof HTMLInputElement && !other.value) {
    other.value = value;
    say(other, "");
    input.value = "";
    input.focus();
  }
}

for (const form of document.querySelectorAll<HTMLFormElement>("form")) {
  const platform = form.dataset["platform"];
  if (platform) {
    for (const input of form.querySelectorAll<HTMLInputElement>("[data-recognize]")) {
      input.addEventListener("change", () => void recognize(input, platform));
      input.addEventListener("paste", () => setTimeout(() => void recognize(input, platform)));
    }
  }
  form.addEventListener("submit", (event) => {
    if (form.dataset["sent"]) {
      event.preventDefault(); // a second click sends nothing
      return;
    }
    form.dataset["sent"] = "1";
    const button = event.submitter;
    if (button instanceof HTMLButtonElement && button.dataset["busy"]) {
      button.textContent = button.dataset["busy"];
      button.setAttribute("aria-busy", "true");
    }
  });
}
window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll<HTMLFormElement>("form")) {
    delete form.dataset["sent"]; // the browser went back to this page
  }
});

async function isStarted(): Promise<boolean> {
  try {
    const response = await fetch("/setup/started", { redirect: "manual", cache: "no-store" });
    return !response.headers.has("Threadlore-Setup"); // the program itself has no such page
  } catch {
    return false;
  }
}

async function waitForStart(state: HTMLElement): Promise<void> {
  await post("/setup/leave");
  for (let tries = 0; tries < MAX_TRIES; tries++) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    if (await isStarted()) {
      if ("stay" in state.dataset) {
        state.textContent = "It runs.";
        find("[data-started]", HTMLAnchorElement).hidden = false;
      } else {
        location.replace("/");
      }
      return;
    }
  }
  state.textContent = "It does not run yet: the terminal says why.";
}

const starting = document.querySelector("[data-starting]");
if (starting instanceof HTMLElement) {
  void waitForStart(starting);
}
