// Corrections: each is confirmed in a dialog, made by the server, and can be undone.
import { find, moveFocus } from "../lib/dom";
import { describeProblem, readProblem } from "../lib/problems";
import { searchNames } from "./search";

export interface Correction {
  action: string;
  name: string;
  other: string;
  description: string;
  type: string;
  space: string;
  made?: object[];
  removed?: object[];
}

interface Corrected {
  message: string;
  undo: Correction | null;
}

const DONE_MILLISECONDS = 20_000;

export class Corrections {
  private readonly dialog = find("#graph-dialog", HTMLDialogElement);
  private readonly other = find("#graph-other", HTMLInputElement);
  private readonly words = find("#graph-description", HTMLTextAreaElement);
  private readonly type = find("#graph-split-type", HTMLInputElement);
  private readonly problem = find("#graph-dialog-problem", HTMLElement);
  private readonly done = find("#graph-done", HTMLElement);
  private readonly made = find("#graph-corrections", HTMLDetailsElement);
  private pending: Correction | null = null;
  private undo: Correction | null = null;
  private timer = 0;
  private offset = 0;

  constructor(private readonly refresh: (correction: Correction) => Promise<void>) {
    find("#graph-cancel", HTMLButtonElement).addEventListener("click", () => this.dialog.close());
    find("#graph-dialog-form", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      void this.confirm();
    });
    find("#graph-undo", HTMLButtonElement).addEventListener("click", () => void this.takeBack());
    find("#graph-dismiss", HTMLButtonElement).addEventListener("click", () => this.dismiss());
    this.other.addEventListener("input", () => void this.suggest());
    this.made.addEventListener("toggle", () => void this.list());
    this.made.addEventListener("click", (event) => this.handleClick(event));
  }

  /** Ask for what a button in the details needs, and for a confirmation. */
  ask(actions: HTMLElement, action: string): void {
    const { name = "", other = "", description = "" } = actions.dataset;
    const space = find("#graph-space", HTMLElement, actions) as HTMLInputElement | HTMLSelectElement;
    this.pending = { action, name, other, description: "", type: "", space: space.value };
    const subject = other ? `the relation of “${name}” and “${other}”` : `“${name}”`;
    const texts: Record<string, [string, string, string]> = {
      merge: [`Merge “${name}”`, "Both names mean the same: everything is shown under the other one.", "Merge"],
      split: [`Split “${name}”`, "Two things have this name: what sources call by a type moves to another name, with new sources too.", "Split"],
      hide: [`Hide ${subject}?`, "It disappears from the graph and from answers that use the graph. Messages and files stay.", "Hide"],
      describe: [`Describe ${subject}`, "Your words replace the description that comes from the sources.", "Save"],
      restore: [`Restore ${subject}?`, "The description comes from the sources again.", "Restore"],
    };
    const [title, text, confirm] = texts[action] ?? ["", "", ""];
    find("#graph-dialog-title", HTMLElement).textContent = title;
    find("#graph-dialog-text", HTMLElement).textContent = text;
    find("#graph-confirm", HTMLButtonElement).textContent = confirm;
    find("#graph-dialog-name", HTMLElement).hidden = !["merge", "split"].includes(action);
    find("#graph-dialog-type", HTMLElement).hidden = action !== "split";
    find("#graph-dialog-words", HTMLElement).hidden = action !== "describe";
    this.other.required = ["merge", "split"].includes(action);
    this.type.required = action === "split";
    this.words.required = action === "describe";
    this.other.value = "";
    this.type.value = "";
    this.words.value = description;
    this.problem.hidden = true;
    this.dialog.showModal();
  }

  private async confirm(): Promise<void> {
    if (!this.pending) {
      return;
    }
    const { action } = this.pending;
    const correction = {
      ...this.pending,
      action: action === "restore" ? "describe" : action,
      other: ["merge", "split"].includes(action) ? this.other.value.trim() : this.pending.other,
      type: action === "split" ? this.type.value.trim() : "",
      description: action === "describe" ? this.words.value.trim() : "",
    };
    const problem = await this.send(correction);
    this.problem.hidden = !problem;
    this.problem.textContent = problem;
    if (!problem) {
      this.dialog.close();
      find("#graph-undo", HTMLButtonElement).focus(); // the button that opened the dialog may be gone
    }
  }

  private dismiss(): void {
    moveFocus(this.done, find("#graph-canvas", HTMLElement));
    this.done.hidden = true;
  }

  private async takeBack(): Promise<void> {
    if (this.undo) {
      const problem = await this.send(this.undo);
      if (problem) {
        this.say(problem, null);
      }
    }
  }

  /** Make a correction; returns what went wrong, if anything. */
  private async send(correction: Correction): Promise<string> {
    const response = await fetch("/graph/corrections", {
      method: "POST",
      headers: { "Content-Type": "application/json", Accept: "application/json" },
      body: JSON.stringify(correction),
    });
    if (!response.ok) {
      return describeProblem(await readProblem(response));
    }
    const made = (await response.json()) as Corrected;
    this.say(made.message, made.undo);
    await this.refresh(correction);
    await this.list();
    return "";
  }

  private say(message: string, undo: Correction | null): void {
    this.undo = undo;
    find("span", HTMLElement, this.done).textContent = message;
    const button = find("#graph-undo", HTMLButtonElement);
    if (!undo) {
      moveFocus(button, find("#graph-dismiss", HTMLButtonElement));
    }
    button.hidden = !undo;
    this.done.hidden = false;
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => (this.done.hidden = !this.done.matches(":focus-within")), DONE_MILLISECONDS);
  }

  private async suggest(): Promise<void> {
    const found = await searchNames(this.other.value);
    const options = found.map((each) => new Option(each.name, each.name));
    find("#graph-others", HTMLDataListElement).replaceChildren(...options);
  }

  private async list(): Promise<void> {
    if (this.made.open) {
      const response = await fetch(`/graph/corrections?offset=${this.offset}`);
      moveFocus(find("#graph-made", HTMLElement), find("summary", HTMLElement, this.made));
      find("#graph-made", HTMLElement).innerHTML = response.ok ? await response.text() : "";
    }
  }

  private handleClick(event: Event): void {
    const button = event.target instanceof Element ? event.target.closest<HTMLButtonElement>("[data-undo], [data-offset]") : null;
    const { undo = "", offset = "" } = button?.dataset ?? {};
    if (undo) {
      void this.send(JSON.parse(undo) as Correction).then((problem) => problem && this.say(problem, null));
    } else if (offset) {
      this.offset = Number(offset);
      void this.list();
    }
  }
}
