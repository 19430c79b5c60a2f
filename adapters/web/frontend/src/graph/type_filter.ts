// The types of names in the picture, each with a box that leaves it out.
import { find } from "../lib/dom";
import { colorOf, currentPalette } from "./colors";
import type { GraphModel } from "./model";

export class TypeFilter {
  private readonly list = find("#graph-types", HTMLElement);

  constructor(
    private readonly model: GraphModel,
    private readonly change: () => void,
  ) {}

  /** List the types of the model again, in the colors of the theme. */
  update(): void {
    const palette = currentPalette();
    const types = this.model.countTypes();
    if (types.length) {
      this.list.replaceChildren(...types.map(([type, count]) => this.buildBox(type, count, colorOf(type, palette))));
    }
  }

  private buildBox(type: string, count: number, color: string): HTMLLabelElement {
    const label = document.createElement("label");
    label.className = "graph-type";
    const box = document.createElement("input");
    box.type = "checkbox";
    box.checked = !this.model.hiddenTypes.has(type);
    box.addEventListener("change", () => {
      this.model.setTypeShown(type, box.checked);
      this.change();
    });
    const dot = document.createElement("span");
    dot.className = "graph-dot";
    dot.style.backgroundColor = color;
    label.append(box, dot, `${type} `, Object.assign(document.createElement("small"), { textContent: String(count) }));
    return label;
  }
}
