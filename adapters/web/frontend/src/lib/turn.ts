// A question and its answer, as it arrives.
import htmx from "htmx.org";
import { cloneTemplate, find } from "./dom";
import { describeProblem } from "./problems";
import type { Problem } from "./problems";

export type AnswerEvent =
  | { type: "delta"; text: string }
  | { type: "html"; html: string }
  | { type: "progress"; text: string }
  | { type: "end"; text: string; answer: string; actions: string; html: string; sources: string; notices: string[] }
  | { type: "error"; error: Problem };

export class Turn {
  readonly element: HTMLElement;
  text = "";
  /** The id of the answer, once it is complete and kept. */
  id = "";
  private readonly answer: HTMLElement;
  private readonly state: HTMLElement;
  private readonly stateText: HTMLElement;
  private readonly tail = document.createElement("span");
  private isOver = false;

  constructor(question: string) {
    this.element = cloneTemplate("#turn-template");
    this.answer = find(".answer", HTMLElement, this.element);
    this.state = find(".state", HTMLElement, this.element);
    this.stateText = find(".state-text", HTMLElement, this.element);
    this.tail.className = "tail";
    find(".question", HTMLElement, this.element).textContent = question;
    find("[data-copy]", HTMLElement, this.element).addEventListener("click", () => void this.copy());
  }

  /** Show the next event of the answer. */
  handle(event: AnswerEvent): void {
    switch (event.type) {
      case "delta":
        this.append(event.text);
        break;
      case "html":
        this.replaceAnswer(event.html);
        break;
      case "progress":
        this.stateText.textContent = event.text || "Searching…";
        break;
      case "end":
        this.finish(event);
        break;
      case "error":
        this.fail(event.error);
        break;
    }
  }

  /** The person stopped the answer; its text so far stays. */
  stop(): void {
    this.showNotices(["Stopped. Sources are listed below complete answers only."]);
    this.end();
  }

  /** The answer cannot be used: remove its text, and say why. */
  fail(problem: Problem): void {
    this.text = "";
    this.answer.replaceChildren();
    const notice = document.createElement("p");
    notice.className = "notice problem";
    notice.textContent = describeProblem(problem);
    this.answer.append(notice);
    this.end();
  }

  /** The stream is over, whether or not its last event came. */
  close(): void {
    if (!this.isOver) {
      this.showNotices(["The connection broke off before the end of this answer."]);
      this.end();
    }
  }

  private append(text: string): void {
    this.text += text;
    this.tail.textContent += text;
    if (!this.tail.isConnected) {
      (this.answer.lastElementChild ?? this.answer).append(this.tail);
    }
    this.state.hidden = true;
  }

  /** Put the HTML of all text so far; the server rendered it without any markup of its sources. */
  private replaceAnswer(html: string): void {
    this.tail.textContent = "";
    this.answer.innerHTML = html;
  }

  private finish(end: Extract<AnswerEvent, { type: "end" }>): void {
    this.text = end.text;
    this.replaceAnswer(end.html);
    find(".answer-sources", HTMLElement, this.element).innerHTML = end.sources;
    this.showNotices(end.notices);
    const actions = find(".turn-actions", HTMLElement, this.element);
    actions.hidden = false;
    this.id = end.answer;
    const offered = find(".answer-actions", HTMLElement, actions);
    offered.innerHTML = end.actions;
    htmx.process(offered);
    this.end();
  }

  private showNotices(notices: string[]): void {
    const list = find(".answer-notices", HTMLElement, this.element);
    for (const each of notices) {
      const item = document.createElement("li");
      item.textContent = each;
      list.append(item);
    }
    list.hidden = list.childElementCount === 0;
  }

  private end(): void {
    this.isOver = true;
    this.state.hidden = true;
    this.answer.setAttribute("aria-busy", "false");
    this.element.classList.add("is-over");
  }

  private async copy(): Promise<void> {
    await navigator.clipboard.writeText(this.text);
    find("[data-copy] span", HTMLElement, this.element).textContent = "Copied";
  }
}
