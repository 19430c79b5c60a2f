// Uploads of the page of documents: chosen or dropped files are sent one after another, with their progress.
import { cloneTemplate, find } from "./lib/dom";
import { describeProblem, type Problem, UNREACHABLE } from "./lib/problems";

interface Step {
  type: "progress" | "end" | "error";
  stage?: string;
  trouble?: string;
  text?: string;
  changed?: boolean;
  documents?: { status: string; error: string; hint: string }[];
  error?: Problem;
}

const waiting: (() => Promise<void>)[] = [];
let isSending = false;

function capitalize(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** What an item of the list of uploads shows. */
class UploadItem {
  private readonly item = cloneTemplate("#upload-template");
  private readonly progress = find("progress", HTMLProgressElement, this.item);
  private readonly state = find(".upload-state", HTMLElement, this.item);

  constructor(name: string, list: HTMLElement) {
    find(".upload-name", HTMLElement, this.item).textContent = name;
    this.progress.setAttribute("aria-label", `Upload of ${name}`);
    list.prepend(this.item);
  }

  showShare(sent: number, total: number): void {
    this.progress.value = total ? (100 * sent) / total : 0;
    this.say(sent < total ? `Uploading, ${Math.floor(this.progress.value)} %` : "Reading…");
    if (sent >= total) {
      this.progress.removeAttribute("value"); // how long reading takes is unknown
    }
  }

  showStep(step: Step): void {
    if (step.type === "progress") {
      this.say(step.trouble || `${capitalize(step.text || "working")} …`);
    } else if (step.type === "end") {
      const failed = step.documents?.find((each) => each.error);
      this.finish(failed ? `${failed.error} ${failed.hint}` : step.changed ? "Searchable" : "Unchanged", !failed);
    } else {
      this.finish(describeProblem(step.error ?? UNREACHABLE), false);
    }
  }

  finish(text: string, isDone: boolean): void {
    this.progress.value = 100;
    this.progress.hidden = !isDone;
    this.item.classList.add(isDone ? "done" : "failed");
    this.say(text);
  }

  private say(text: string): void {
    this.state.textContent = text;
  }
}

/** Reads the lines of JSON that have arrived so far, each once. */
function readNewLines(text: string, from: number): [Step[], number] {
  const end = text.lastIndexOf("\n") + 1;
  const lines = text.slice(from, end).split("\n").filter(Boolean);
  return [lines.map((line) => JSON.parse(line) as Step), end];
}

function parseProblem(text: string, status: number): Problem {
  try {
    return JSON.parse(text) as Problem;
  } catch {
    return { title: "Error", status, detail: `The server answered ${status}.` };
  }
}

/** Sends one file; resolves when the server is done with it. */
function send(file: File, item: UploadItem): Promise<void> {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest(); // fetch does not tell how much was sent
    let read = 0;
    const show = (): void => {
      if (request.status === 200 || request.status === 201) {
        const [steps, end] = readNewLines(request.responseText, read);
        read = end;
        for (const step of steps) {
          item.showStep(step);
        }
      }
    };
    request.upload.addEventListener("progress", (event) => item.showShare(event.loaded, event.total));
    request.addEventListener("progress", show);
    request.addEventListener("load", () => {
      show();
      if (request.status >= 400) {
        item.showStep({ type: "error", error: parseProblem(request.responseText, request.status) });
      }
    });
    request.addEventListener("error", () => item.showStep({ type: "error", error: UNREACHABLE }));
    request.addEventListener("loadend", () => resolve());
    request.open("POST", "/documents/upload");
    request.setRequestHeader("Accept", "application/x-ndjson");
    const form = new FormData();
    form.append("file", file);
    request.send(form);
  });
}

async function sendAll(): Promise<void> {
  if (isSending) {
    return;
  }
  isSending = true;
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    await next();
    document.querySelector("#documents-list")?.dispatchEvent(new Event("refresh"));
  }
  isSending = false;
}

function add(files: FileList, list: HTMLElement): void {
  for (const file of files) {
    const item = new UploadItem(file.name, list);
    waiting.push(() => send(file, item));
  }
  void sendAll();
}

const section = document.querySelector("#upload");
if (section) {
  const input = find("#files", HTMLInputElement);
  const zone = find(".drop-zone", HTMLElement);
  const list = find("#uploads", HTMLElement);
  input.addEventListener("change", () => {
    if (input.files) {
      add(input.files, list);
    }
    input.value = "";
  });
  for (const name of ["dragenter", "dragover"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.add("over");
    });
  }
  for (const name of ["dragleave", "drop"]) {
    zone.addEventListener(name, (event) => {
      event.preventDefault();
      zone.classList.remove("over");
    });
  }
  zone.addEventListener("drop", (event) => {
    if (event.dataTransfer?.files.length) {
      add(event.dataTransfer.files, list);
    }
  });
}
