// The search box: names are suggested while one is typed, as a combobox that keyboard and screen readers know.
import { find } from "../lib/dom";

interface Suggestion {
  name: string;
  type: string;
  relations: number;
}

const PAUSE = 140; // milliseconds without a key before names are looked up

export async function searchNames(text: string, signal?: AbortSignal): Promise<Suggestion[]> {
  const response = await fetch(`/graph/entities?search=${encodeURIComponent(text)}`, signal ? { signal } : {});
  return response.ok ? ((await response.json()) as { entities: Suggestion[] }).entities : [];
}

export class SearchBox {
  private readonly box = find("#graph-name", HTMLInputElement);
  private readonly list = find("#graph-suggestions", HTMLUListElement);
  private timer = 0;
  private looking: AbortController | null = null;
  private active = -1;

  constructor(private readonly choose: (name: string) => void) {
    this.box.addEventListener("input", () => this.schedule());
    this.box.addEventListener("keydown", (event) => this.handleKey(event));
    this.box.addEventListener("blur", () => window.setTimeout(() => this.close(), 150));
    find("#graph-search", HTMLFormElement).addEventListener("submit", (event) => {
      event.preventDefault();
      this.submit(this.options()[this.active]?.dataset["name"] ?? this.box.value.trim());
    });
  }

  show(name: string): void {
    this.box.value = name;
  }

  private schedule(): void {
    window.clearTimeout(this.timer);
    this.timer = window.setTimeout(() => void this.suggest(), PAUSE);
  }

  private async suggest(): Promise<void> {
    this.looking?.abort();
    this.looking = new AbortController();
    try {
      this.list.replaceChildren(...(await searchNames(this.box.value, this.looking.signal)).map((each, i) => this.build(each, i)));
      this.setActive(-1);
      this.toggle(this.list.childElementCount > 0 && document.activeElement === this.box);
    } catch {
      this.close(); // another look-up began, or the server is away
    }
  }

  private build(each: Suggestion, place: number): HTMLLIElement {
    const item = document.createElement("li");
    item.id = `graph-suggestion-${place}`;
    item.role = "option";
    item.dataset["name"] = each.name;
    const name = document.createElement("span");
    name.textContent = each.name;
    const about = document.createElement("small");
    about.textContent = `${each.type} · ${each.relations}`;
    item.append(name, about);
    item.addEventListener("pointerdown", (event) => {
      event.preventDefault();
      this.submit(each.name);
    });
    return item;
  }

  private options(): HTMLLIElement[] {
    return this.list.hidden ? [] : [...this.list.querySelectorAll("li")];
  }

  private handleKey(event: KeyboardEvent): void {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step && this.options().length) {
      event.preventDefault();
      this.setActive((this.active + step + this.options().length) % this.options().length);
    } else if (event.key === "Escape") {
      this.close();
    }
  }

  private setActive(place: number): void {
    this.active = place;
    this.options().forEach((option, index) => option.setAttribute("aria-selected", String(index === place)));
    const option = this.options()[place];
    this.box.setAttribute("aria-activedescendant", option?.id ?? "");
    option?.scrollIntoView({ block: "nearest" });
  }

  private submit(name: string): void {
    this.close();
    if (name) {
      this.box.value = name;
      this.choose(name);
    }
  }

  private close(): void {
    window.clearTimeout(this.timer);
    this.toggle(false);
  }

  private toggle(isOpen: boolean): void {
    this.list.hidden = !isOpen;
    this.box.setAttribute("aria-expanded", String(isOpen));
    if (!isOpen) {
      this.active = -1;
    }
  }
}
