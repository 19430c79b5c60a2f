// The same as the picture, as a table: for screen readers, and for whoever prefers lists.
import { find, moveFocus } from "../lib/dom";
import type { GraphModel, GraphNode } from "./model";

const MAX_RELATED = 6;

export class Table {
  private readonly body = find("#graph-rows", HTMLElement);
  private readonly rows = new Map<string, HTMLTableRowElement>();

  constructor(private readonly model: GraphModel) {}

  /** List what the picture shows; rows that are there already change only where they have to. */
  update(): void {
    const nodes = this.model.shownNodes();
    find("#graph-count", HTMLElement).textContent = String(nodes.length);
    const shown = new Set(nodes.map((node) => node.key));
    for (const [key, row] of this.rows) {
      if (!shown.has(key)) {
        moveFocus(row, find("#graph-table > summary", HTMLElement));
        row.remove();
        this.rows.delete(key);
      }
    }
    for (const node of nodes) {
      const row = this.rows.get(node.key) ?? this.build(node);
      const related = this.model.relationsOf(node.key).map((edge) => this.model.otherEnd(edge, node.key)?.name ?? "");
      const more = related.length > MAX_RELATED ? ` and ${related.length - MAX_RELATED} more` : "";
      setText(row, ".related", related.slice(0, MAX_RELATED).join(", ") + more);
      if (this.model.expanded.has(node.key)) {
        removeButton(row);
      }
    }
  }

  /** Mark the row of the entity that is selected. */
  select(key: string): void {
    this.body.querySelector("[aria-current]")?.removeAttribute("aria-current");
    this.rows.get(key)?.querySelector("button")?.setAttribute("aria-current", "true");
  }

  private build(node: GraphNode): HTMLTableRowElement {
    const row = document.createElement("tr");
    const name = document.createElement("th");
    name.scope = "row";
    name.append(buildButton(node.name, "select", node.key));
    const expand = buildButton("Expand", "expand", node.key);
    expand.setAttribute("aria-label", `Expand ${node.name}`);
    row.append(name, buildCell(node.type), buildCell("", "related"), buildCell(String(node.relations), "number"));
    row.append(buildCell(""));
    row.lastElementChild?.append(expand);
    this.rows.set(node.key, row);
    this.body.append(row);
    return row;
  }
}

function buildCell(text: string, name = ""): HTMLTableCellElement {
  const cell = document.createElement("td");
  cell.className = name;
  cell.textContent = text;
  return cell;
}

/** Remove the button that expands, once everything around an entity is shown. */
function removeButton(row: HTMLElement): void {
  const button = row.querySelector("[data-row=expand]");
  if (button) {
    moveFocus(button, find("button", HTMLButtonElement, row));
    button.remove();
  }
}

function setText(row: HTMLElement, selector: string, text: string): void {
  const cell = row.querySelector(selector);
  if (cell && cell.textContent !== text) {
    cell.textContent = text;
  }
}

function buildButton(text: string, action: string, key: string): HTMLButtonElement {
  const button = document.createElement("button");
  button.type = "button";
  button.className = "quiet small";
  button.dataset["row"] = action;
  button.dataset["key"] = key;
  button.textContent = text;
  return button;
}
