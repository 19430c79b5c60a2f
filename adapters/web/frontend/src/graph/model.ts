// What the explorer shows: entities by their keys, relations by both keys, and what is filtered out.

export interface GraphNode {
  key: string;
  name: string;
  type: string;
  description: string;
  mentions: number;
  relations: number;
}

export interface GraphEdge {
  source: string;
  target: string;
  keywords: string;
  description: string;
  weight: number;
}

export interface Subgraph {
  nodes: GraphNode[];
  edges: GraphEdge[];
  has_more: boolean;
}

export const MAX_NODES = 200;
const EDGES_PER_NODE = 1.6; // drawn; more would hide the names

export function edgeId(source: string, target: string): string {
  return JSON.stringify([source, target]);
}

export class GraphModel {
  readonly nodes = new Map<string, GraphNode>();
  readonly edges = new Map<string, GraphEdge>();
  readonly expanded = new Set<string>();
  readonly hiddenTypes = new Set<string>();
  center = "";
  private shown: GraphNode[] = [];
  private shownRelations: GraphEdge[] = [];
  private relations = new Map<string, GraphEdge[]>();

  clear(): void {
    this.nodes.clear();
    this.edges.clear();
    this.expanded.clear();
    this.center = "";
    this.index();
  }

  /** Add what is around an entity, up to MAX_NODES in all; returns the new entities. */
  add(found: Subgraph): GraphNode[] {
    const added: GraphNode[] = [];
    for (const node of found.nodes) {
      if (!this.nodes.has(node.key)) {
        if (this.nodes.size >= MAX_NODES) {
          continue;
        }
        added.push(node);
      }
      this.nodes.set(node.key, node);
    }
    for (const edge of found.edges) {
      if (this.nodes.has(edge.source) && this.nodes.has(edge.target)) {
        this.edges.set(edgeId(edge.source, edge.target), edge);
      }
    }
    const center = found.nodes[0]?.key ?? "";
    this.center ||= center;
    this.expanded.add(center);
    this.index();
    return added;
  }

  /** Show entities of a type, or leave them out. */
  setTypeShown(type: string, isShown: boolean): void {
    this.hiddenTypes[isShown ? "delete" : "add"](type);
    this.index();
  }

  shownNodes(): GraphNode[] {
    return this.shown;
  }

  shownEdges(): GraphEdge[] {
    return this.shownRelations;
  }

  /** The relations of an entity in the picture, the strongest first. */
  relationsOf(key: string): GraphEdge[] {
    return this.relations.get(key) ?? [];
  }

  /** Find again what is shown, because entities, relations or filters changed. */
  private index(): void {
    this.shown = [...this.nodes.values()].filter(
      (node) => node.key === this.center || !this.hiddenTypes.has(node.type),
    );
    this.relations = new Map(this.shown.map((node) => [node.key, []]));
    this.shownRelations = this.selectEdges();
    for (const edge of this.shownRelations) {
      this.relations.get(edge.source)?.push(edge);
      this.relations.get(edge.target)?.push(edge);
    }
  }

  /** The strongest relations: those that are one of the first of an end, then others until the picture is dense. */
  private selectEdges(): GraphEdge[] {
    const order = [...this.edges.values()]
      .filter((edge) => this.relations.has(edge.source) && this.relations.has(edge.target))
      .sort((a, b) => b.weight - a.weight);
    const linked = new Set<string>();
    const first: GraphEdge[] = [];
    const others: GraphEdge[] = [];
    for (const edge of order) {
      const isFirst = !linked.has(edge.source) || !linked.has(edge.target) || edge.source === this.center || edge.target === this.center;
      (isFirst ? first : others).push(edge);
      linked.add(edge.source).add(edge.target);
    }
    const most = Math.max(EDGES_PER_NODE * this.shown.length - first.length, 0);
    return [...first, ...others.slice(0, most)].sort((a, b) => b.weight - a.weight);
  }

  otherEnd(edge: GraphEdge, key: string): GraphNode | undefined {
    return this.nodes.get(edge.source === key ? edge.target : edge.source);
  }

  /** The number of entities of each type, the most frequent first. */
  countTypes(): [string, number][] {
    const counts = new Map<string, number>();
    for (const node of this.nodes.values()) {
      counts.set(node.type, (counts.get(node.type) ?? 0) + 1);
    }
    return [...counts].sort((a, b) => b[1] - a[1] || a[0].localeCompare(b[0]));
  }

  /** The picture in a sentence. */
  describe(): string {
    const center = this.nodes.get(this.center);
    const nodes = this.shownNodes().length;
    return center
      ? `A graph around ${center.name}: ${nodes} names and ${this.shownEdges().length} relations, also listed in the table below.`
      : "An empty graph";
  }
}
