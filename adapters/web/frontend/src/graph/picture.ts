// The picture: a canvas of cytoscape whose places come from the layout.
import cytoscape from "cytoscape";
import { onThemeChange } from "./colors";
import { Layout } from "./layout";
import { edgeId } from "./model";
import type { GraphModel, GraphNode } from "./model";
import { buildStyle, preventInlineStyle } from "./style";

export interface PictureEvents {
  selectNode: (key: string) => void;
  selectEdge: (source: string, target: string) => void;
  expand: (key: string) => void;
}

const LABEL_HEIGHT = 15;
const LETTER_WIDTH = 6.3;
const VISIBLE_MOVE = 0.4; // pixels on the screen; less is not worth drawing
const LABEL_PAUSE = 180; // milliseconds without a change of the view before labels are placed again
const MAX_LABEL = 26;
const EMPTY_BOX: Box = { left: 0, right: 0, top: 0, bottom: 0 };
const FIT_PADDING = 48;
const MAX_ZOOM = 1.35; // of a fitted picture

export class Picture {
  private readonly cy: cytoscape.Core;
  private readonly layout: Layout;
  private followed = true; // whether the view follows the picture as it grows
  private labelTimer = 0;

  constructor(
    private readonly container: HTMLElement,
    private readonly model: GraphModel,
    events: PictureEvents,
  ) {
    preventInlineStyle();
    this.cy = cytoscape({
      container,
      style: buildStyle(),
      minZoom: 0.15,
      maxZoom: 3,
      boxSelectionEnabled: false,
      selectionType: "single",
      pixelRatio: Math.min(window.devicePixelRatio, 2),
      hideEdgesOnViewport: false,
      textureOnViewport: false,
    });
    this.layout = new Layout(
      () => this.move(),
      () => this.settle(),
    );
    this.listen(events);
    onThemeChange(() => this.cy.style(buildStyle()));
    new ResizeObserver(() => this.fit()).observe(container);
  }

  /** Show the model as it is now; what is new appears around an entity. */
  update(from: string): void {
    const nodes = this.model.shownNodes();
    const edges = this.model.shownEdges();
    const sizes = new Map(nodes.map((node) => [node.key, sizeOf(node, node.key === this.model.center)]));
    this.layout.update(nodes, edges, sizes, from);
    this.cy.batch(() => {
      const wanted = new Set([...nodes.map((node) => node.key), ...edges.map((edge) => edgeId(edge.source, edge.target))]);
      this.cy.elements().filter((element) => !wanted.has(element.id())).remove();
      for (const node of nodes) {
        this.putNode(node, sizes.get(node.key) ?? 20);
      }
      for (const edge of edges) {
        const id = edgeId(edge.source, edge.target);
        const data = { id, source: edge.source, target: edge.target, width: Math.min(1 + Math.log2(edge.weight), 5) };
        if (this.cy.getElementById(id).empty()) {
          this.cy.add({ group: "edges", data });
        }
      }
    });
    this.container.setAttribute("aria-label", this.model.describe());
    this.followed = true;
  }

  selectNode(key: string): void {
    this.mark(this.cy.getElementById(key));
  }

  selectEdge(source: string, target: string): void {
    this.mark(this.cy.getElementById(edgeId(source, target)));
  }

  /** The entity nearest to another one in a direction, of its neighbors if any lies there. */
  findNext(key: string, x: number, y: number): string {
    const start = this.layout.points.get(key);
    if (!start) {
      return this.model.center;
    }
    const neighbors = new Set(this.model.relationsOf(key).map((edge) => this.model.otherEnd(edge, key)?.key));
    let best = "";
    let least = Infinity;
    for (const point of this.layout.points.values()) {
      const dx = point.x - start.x;
      const dy = point.y - start.y;
      const along = dx * x + dy * y;
      const across = Math.abs(dx * y - dy * x);
      const cost = along + 2 * across + (neighbors.has(point.key) ? 0 : 400);
      if (point.key !== key && along > across * 0.5 && cost < least) {
        least = cost;
        best = point.key;
      }
    }
    return best;
  }

  zoomBy(factor: number): void {
    this.followed = false;
    const renderedPosition = { x: this.cy.width() / 2, y: this.cy.height() / 2 };
    this.cy.zoom({ level: this.cy.zoom() * factor, renderedPosition });
  }

  /** Bring the whole picture into view. */
  fit(): void {
    this.cy.resize();
    this.followed = true;
    this.follow(1);
  }

  /** Bring an entity into view if it is outside. */
  reveal(key: string): void {
    const place = this.cy.getElementById(key).renderedPosition();
    if (place && (place.x < 40 || place.y < 40 || place.x > this.cy.width() - 40 || place.y > this.cy.height() - 40)) {
      this.followed = false;
      this.cy.animate({ center: { eles: this.cy.getElementById(key) }, duration: 200 });
    }
  }

  private putNode(node: GraphNode, size: number): void {
    const degree = this.model.relationsOf(node.key).length;
    const more = Math.max(node.relations - degree, 0);
    const data = {
      id: node.key,
      label: shorten(node.name),
      size,
      type: node.type,
      more,
      isCenter: node.key === this.model.center ? 1 : 0,
    };
    const present = this.cy.getElementById(node.key);
    if (present.nonempty()) {
      for (const [name, value] of Object.entries(data)) {
        if (present.data(name) !== value) {
          present.data(name, value);
        }
      }
      return;
    }
    const { x, y } = this.layout.points.get(node.key) ?? { x: 0, y: 0 };
    this.cy.add({ group: "nodes", data, position: { x, y }, classes: "unlabeled" });
  }

  private listen(events: PictureEvents): void {
    this.cy.on("tap", "node", (event) => events.selectNode(event.target.id() as string));
    this.cy.on("dbltap", "node", (event) => events.expand(event.target.id() as string));
    this.cy.on("tap", "edge", (event) => events.selectEdge(event.target.data("source"), event.target.data("target")));
    this.cy.on("drag", "node", (event) => {
      this.followed = false;
      const { x, y } = event.target.position();
      this.layout.hold(event.target.id(), x, y);
    });
    this.cy.on("free", "node", (event) => this.layout.release(event.target.id()));
    this.cy.on("dragpan scrollzoom pinchzoom", () => (this.followed = false));
    this.cy.on("zoom pan", () => this.scheduleLabels());
  }

  private move(): void {
    const least = VISIBLE_MOVE / this.cy.zoom();
    this.cy.batch(() => {
      for (const node of this.cy.nodes()) {
        const point = this.layout.points.get(node.id());
        const { x, y } = node.position();
        if (point && !node.grabbed() && Math.abs(point.x - x) + Math.abs(point.y - y) > least) {
          node.position({ x: point.x, y: point.y });
        }
      }
    });
    if (this.followed) {
      this.follow(0.18);
    }
  }

  private settle(): void {
    if (this.followed) {
      this.follow(1);
    }
    this.showLabels();
  }

  /** Move the view a share of the way to where the whole picture fits. */
  private follow(share: number): void {
    const points = [...this.layout.points.values()];
    if (!points.length || !this.cy.width()) {
      return;
    }
    const xs = points.map((point) => point.x);
    const ys = points.map((point) => point.y);
    const [left, right, top, bottom] = [Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys)];
    const wide = (this.cy.width() - 2 * FIT_PADDING) / Math.max(right - left + 60, 1);
    const high = (this.cy.height() - 2 * FIT_PADDING) / Math.max(bottom - top + 40, 1);
    const zoom = this.cy.zoom() + (Math.min(wide, high, MAX_ZOOM) - this.cy.zoom()) * share;
    const target = {
      x: this.cy.width() / 2 - (zoom * (left + right)) / 2,
      y: this.cy.height() / 2 - (zoom * (top + bottom)) / 2,
    };
    const pan = this.cy.pan();
    this.cy.viewport({ zoom, pan: { x: pan.x + (target.x - pan.x) * share, y: pan.y + (target.y - pan.y) * share } });
  }

  private mark(element: cytoscape.CollectionReturnValue): void {
    this.cy.batch(() => {
      this.cy.elements().removeClass("chosen near");
      element.addClass("chosen");
      element.closedNeighborhood().difference(element).addClass("near");
    });
    this.showLabels();
  }

  private scheduleLabels(): void {
    window.clearTimeout(this.labelTimer);
    this.labelTimer = window.setTimeout(() => this.showLabels(), LABEL_PAUSE);
  }

  /** Label the center, the chosen entity, and of the others the most important, as many as fit without touching each other or a more important entity. */
  private showLabels(): void {
    const zoom = this.cy.zoom();
    const order = this.cy.nodes().toArray().sort((a, b) => rank(b) - rank(a));
    const discs = new Map(order.map((node) => [node.id(), discOf(node, zoom)]));
    const labels: Box[] = [];
    const font = Math.round(12 / zoom);
    this.cy.batch(() => {
      for (const node of order) {
        const { x } = node.renderedPosition();
        const { bottom } = discs.get(node.id()) ?? EMPTY_BOX;
        const half = (String(node.data("label")).length * LETTER_WIDTH) / 2 + 3;
        const label = { left: x - half, right: x + half, top: bottom + 1, bottom: bottom + LABEL_HEIGHT };
        const isFree =
          node.data("isCenter") === 1 ||
          node.hasClass("chosen") ||
          labels.every((each) => !overlap(label, each)) &&
          [...discs].every(([id, disc]) => id === node.id() || !overlap(label, disc));
        if (isFree) {
          labels.push(label);
        }
        if (node.hasClass("unlabeled") === isFree) {
          node.toggleClass("unlabeled", !isFree);
        }
        if (node.data("font") !== font) {
          node.data("font", font);
        }
      }
    });
  }
}

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

/** Most of the disc of an entity on the screen; a label may touch its rim. */
function discOf(node: cytoscape.NodeSingular, zoom: number): Box {
  const { x, y } = node.renderedPosition();
  const radius = ((node.data("size") as number) / 2) * zoom;
  const side = radius * 0.75;
  return { left: x - side, right: x + side, top: y - side, bottom: y + radius };
}

function overlap(one: Box, other: Box): boolean {
  return one.left < other.right && one.right > other.left && one.top < other.bottom && one.bottom > other.top;
}

function rank(node: cytoscape.NodeSingular): number {
  const chosen = node.hasClass("chosen") ? 3000 : node.hasClass("near") ? 1000 : 0;
  return chosen + (node.data("isCenter") ? 2000 : 0) + (node.data("size") as number);
}

function sizeOf(node: GraphNode, isCenter: boolean): number {
  return Math.min(14 + 5.5 * Math.sqrt(node.relations), 46) + (isCenter ? 8 : 0);
}

function shorten(name: string): string {
  return name.length > MAX_LABEL ? `${name.slice(0, MAX_LABEL - 1)}…` : name;
}
