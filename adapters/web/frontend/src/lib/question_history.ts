// The panel with earlier questions: each can be asked again, and all of them removed.
import { cloneTemplate, find } from "./dom";
import { addQuestion, clearQuestions, listQuestions, onHistoryChange } from "./question_store";

export class QuestionHistory {
  private readonly panel = find("#history", HTMLDetailsElement);
  private readonly list = find("ol", HTMLElement, this.panel);
  private readonly state = find("#history-state", HTMLElement);

  /** `askAgain` is called with a chosen question; `box` has the focus once the panel is gone. */
  constructor(
    private readonly askAgain: (question: string) => void,
    private readonly box: HTMLElement,
  ) {
    find("#clear-history", HTMLElement, this.panel).addEventListener("click", () => this.clear());
    this.panel.addEventListener("keydown", (event) => {
      if (event.key === "Escape" && this.panel.open) {
        event.stopPropagation();
        this.panel.open = false;
        find("summary", HTMLElement, this.panel).focus();
      }
    });
    onHistoryChange(() => this.show());
    this.show();
  }

  add(question: string): void {
    addQuestion(question);
    this.show();
  }

  private show(): void {
    const questions = listQuestions();
    this.panel.hidden = questions.length === 0;
    this.panel.open &&= questions.length > 0;
    this.list.replaceChildren(...questions.map((each) => this.build(each)));
  }

  private build(question: string): HTMLElement {
    const item = cloneTemplate("#history-template");
    const button = find("button", HTMLButtonElement, item);
    find(".history-question", HTMLElement, item).textContent = question;
    button.setAttribute("aria-label", `Ask again: ${question}`);
    button.addEventListener("click", () => {
      this.panel.open = false;
      this.askAgain(question);
    });
    return item;
  }

  private clear(): void {
    clearQuestions();
    this.show();
    this.state.textContent = "The history is cleared.";
    this.box.focus();
  }
}
