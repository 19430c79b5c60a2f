// The column beside the picture: what sources say about the chosen name or line, and what the name is related to.
import { find, moveFocus } from "../lib/dom";
import type { GraphEdge, GraphModel } from "./model";

type SelectRelation = (source: string, target: string) => void;

export class Details {
  private readonly column = find("#graph-details", HTMLElement);
  private loading: AbortController | null = null;

  constructor(
    private readonly model: GraphModel,
    private readonly selectRelation: SelectRelation,
  ) {}

  /** Show what the server says about a name or a line; false if another choice came first. */
  async load(query: URLSearchParams): Promise<boolean> {
    this.loading?.abort();
    const stopping = (this.loading = new AbortController());
    try {
      const response = await fetch(`/graph/details?${query}`, { signal: stopping.signal });
      if (!response.ok) {
        throw new Error(response.statusText);
      }
      const html = await response.text();
      moveFocus(this.column, this.column);
      this.column.innerHTML = html; // the server escapes every text of a source
      this.column.scrollTop = 0;
      return true;
    } catch {
      if (!stopping.signal.aborted) {
        this.column.textContent = "What sources say cannot be shown.";
      }
      return false;
    }
  }

  /** List the relations of an entity in the picture: buttons that lead to their sources. */
  showRelations(key: string): void {
    const edges = this.model.relationsOf(key);
    const head = this.column.querySelector(".graph-head");
    const before = this.column.querySelector(".graph-related");
    if (before) {
      moveFocus(before, this.column);
      before.remove();
    }
    if (!edges.length || !head) {
      return;
    }
    const section = document.createElement("details");
    section.className = "graph-related";
    section.open = before instanceof HTMLDetailsElement && before.open;
    const title = document.createElement("summary");
    title.textContent = `Related in the picture (${edges.length})`;
    const list = document.createElement("ul");
    list.append(...edges.map((edge) => this.describeRelation(edge, key)));
    section.append(title, list);
    head.after(section);
  }

  private describeRelation(edge: GraphEdge, key: string): HTMLLIElement {
    const item = document.createElement("li");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "quiet small";
    const keyword = edge.keywords.split(",")[0] ?? "";
    button.textContent = [this.model.otherEnd(edge, key)?.name ?? "", keyword].filter(Boolean).join(" · ");
    button.addEventListener("click", () => this.selectRelation(edge.source, edge.target));
    item.append(button);
    return item;
  }
}
