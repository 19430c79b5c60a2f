// The layout: forces that run a step in each frame, so that the picture grows without a jump or a stutter.
import { forceCollide, forceLink, forceManyBody, forceSimulation, forceX, forceY } from "d3-force";
import type { SimulationLinkDatum, SimulationNodeDatum } from "d3-force";
import type { GraphEdge, GraphNode } from "./model";

export interface Point extends SimulationNodeDatum {
  key: string;
  size: number;
  x: number;
  y: number;
}

type Spring = SimulationLinkDatum<Point>;

const FRAME_BUDGET = 6; // milliseconds for steps
const FRAME = 12; // milliseconds of a step; slow frames make several
const MAX_STEPS = 4;
const GOLDEN_ANGLE = Math.PI * (3 - Math.sqrt(5));
const START_DISTANCE = 70;

export class Layout {
  readonly points = new Map<string, Point>();
  private readonly springs = forceLink<Point, Spring>([])
    .id((point) => point.key)
    .distance((spring) => 82 + 2.2 * ((spring.source as Point).size + (spring.target as Point).size) * 0.5)
    .iterations(2);
  private readonly simulation = forceSimulation<Point>([])
    .force("springs", this.springs)
    .force("charge", forceManyBody<Point>().strength((point) => -260 - 14 * point.size).distanceMax(700))
    .force("apart", forceCollide<Point>((point) => point.size / 2 + 16).strength(0.8))
    .force("x", forceX<Point>(0).strength(0.035))
    .force("y", forceY<Point>(0).strength(0.05))
    .alphaDecay(0.035)
    .velocityDecay(0.45)
    .stop();
  private frame = 0;
  private last = 0; // when the last frame began

  constructor(private readonly onStep: () => void, private readonly onEnd: () => void) {}

  /** Take these entities and relations; new ones start around the entity `from`, the others stay where they are. */
  update(nodes: GraphNode[], edges: GraphEdge[], sizes: Map<string, number>, from: string): void {
    const origin = this.points.get(from);
    const shown = new Set(nodes.map((node) => node.key));
    for (const key of [...this.points.keys()].filter((each) => !shown.has(each))) {
      this.points.delete(key);
    }
    let place = 0;
    for (const node of nodes) {
      const size = sizes.get(node.key) ?? 20;
      const point = this.points.get(node.key);
      if (point) {
        point.size = size;
        continue;
      }
      place += 1;
      const distance = node.key === from ? 0 : START_DISTANCE + 9 * Math.sqrt(place);
      const x = (origin?.x ?? 0) + distance * Math.cos(place * GOLDEN_ANGLE);
      const y = (origin?.y ?? 0) + distance * Math.sin(place * GOLDEN_ANGLE);
      this.points.set(node.key, { key: node.key, size, x, y });
    }
    this.simulation.nodes([...this.points.values()]);
    this.springs.links(edges.map(({ source, target }) => ({ source, target })));
    this.start(this.points.size > 40 ? 0.5 : 0.8);
  }

  /** Hold an entity at a place while it is dragged; the others give way. */
  hold(key: string, x: number, y: number): void {
    const point = this.points.get(key);
    if (point) {
      Object.assign(point, { fx: x, fy: y, x, y });
      this.start(0.12);
    }
  }

  release(key: string): void {
    Object.assign(this.points.get(key) ?? {}, { fx: null, fy: null });
  }

  private start(alpha: number): void {
    this.simulation.alpha(Math.max(this.simulation.alpha(), alpha));
    if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
      this.simulation.tick(160).alpha(0);
      this.onStep();
      this.onEnd();
    } else if (!this.frame) {
      this.frame = requestAnimationFrame(() => this.step());
    }
  }

  private step(): void {
    const start = performance.now();
    const due = Math.min(Math.max(Math.round((start - this.last) / FRAME), 1), MAX_STEPS);
    this.last = start;
    for (let step = 0; step < due && performance.now() - start < FRAME_BUDGET; step += 1) {
      this.simulation.tick();
    }
    this.onStep();
    if (this.simulation.alpha() > this.simulation.alphaMin() * 12) {
      this.frame = requestAnimationFrame(() => this.step());
    } else {
      this.frame = 0;
      this.onEnd();
    }
  }
}
