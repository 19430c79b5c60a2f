// The explorer of the graph: search a name, expand what is around it, check where it comes from, and correct it.
import { onThemeChange } from "./graph/colors";
import { Corrections } from "./graph/corrections";
import type { Correction } from "./graph/corrections";
import { Details } from "./graph/details";
import { GraphModel, MAX_NODES } from "./graph/model";
import type { Subgraph } from "./graph/model";
import { Picture } from "./graph/picture";
import { SearchBox } from "./graph/search";
import { Table } from "./graph/table";
import { TypeFilter } from "./graph/type_filter";
import { find, moveFocus } from "./lib/dom";
import { describeProblem, readProblem } from "./lib/problems";

const FIRST_LIMIT = 40;
const EXPAND_LIMIT = 30;
const ARROWS: Record<string, [number, number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, -1],
  ArrowDown: [0, 1],
};

const canvas = find("#graph-canvas", HTMLElement);
const status = find("#graph-status", HTMLElement);
const welcome = find("#graph-welcome", HTMLElement);
const since = find("#graph-since", HTMLInputElement);
const until = find("#graph-until", HTMLInputElement);

const model = new GraphModel();
const table = new Table(model);
let selected = "";
let loading: AbortController | null = null;

const picture = new Picture(find("#graph-picture", HTMLElement), model, {
  selectNode: (key) => void select(key),
  selectEdge: (source, target) => void selectRelation(source, target),
  expand: (key) => void expand(key),
});
const search = new SearchBox((name) => void open(name));
const corrections = new Corrections(refresh);
const details = new Details(model, (source, target) => void selectRelation(source, target));
const types = new TypeFilter(model, () => {
  picture.update(model.center);
  table.update();
  say(model.describe());
});

/** Show the picture around another entity. */
async function open(name: string): Promise<void> {
  const found = await load(name, FIRST_LIMIT);
  if (!found) {
    return;
  }
  model.clear();
  model.add(found);
  moveFocus(welcome, canvas);
  welcome.hidden = true;
  const center = model.nodes.get(model.center);
  search.show(center?.name ?? name);
  history.replaceState(null, "", `/graph?entity=${encodeURIComponent(center?.name ?? name)}`);
  render(model.center);
  say(`${model.nodes.size} names around ${center?.name ?? name}.${found.has_more ? " There are more." : ""}`);
  await select(model.center);
}

/** Add what is around an entity of the picture. */
async function expand(key: string): Promise<void> {
  const node = model.nodes.get(key);
  if (!node) {
    return;
  }
  const room = MAX_NODES - model.nodes.size;
  const found = await load(node.name, Math.min(model.relationsOf(key).length + EXPAND_LIMIT, MAX_NODES));
  if (!found) {
    return;
  }
  const added = model.add(found);
  render(key);
  const full = added.length >= room ? ` The picture is full at ${MAX_NODES} names.` : "";
  if (selected) {
    details.showRelations(selected);
  }
  const count = added.length === 1 ? "1 name" : `${added.length} names`;
  say(added.length ? `Added ${count} around ${node.name}.${full}` : `Nothing new around ${node.name}.${full}`);
}

async function load(name: string, limit: number): Promise<Subgraph | null> {
  loading?.abort();
  const stopping = (loading = new AbortController());
  const query = new URLSearchParams({ entity: name, limit: String(limit) });
  if (since.value) {
    query.set("since", `${since.value}T00:00:00Z`);
  }
  if (until.value) {
    query.set("until", `${until.value}T23:59:59Z`);
  }
  canvas.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(`/graph/around?${query}`, { signal: stopping.signal, headers: { Accept: "application/json" } });
    if (response.status === 401) {
      location.assign("/login?next=/graph");
    }
    if (!response.ok) {
      say(describeProblem(await readProblem(response)));
      return null;
    }
    return (await response.json()) as Subgraph;
  } catch {
    if (!stopping.signal.aborted) {
      say("The server cannot be reached.");
    }
    return null;
  } finally {
    if (loading === stopping) {
      canvas.setAttribute("aria-busy", "false");
    }
  }
}

function render(from: string): void {
  picture.update(from);
  table.update();
  types.update();
}

async function select(key: string): Promise<void> {
  const node = model.nodes.get(key);
  if (!node) {
    return;
  }
  selected = key;
  picture.selectNode(key);
  table.select(key);
  if (await details.load(new URLSearchParams({ name: node.name }))) {
    details.showRelations(key);
  }
}

async function selectRelation(source: string, target: string): Promise<void> {
  const [one, other] = [model.nodes.get(source), model.nodes.get(target)];
  if (one && other) {
    selected = "";
    picture.selectEdge(source, target);
    await details.load(new URLSearchParams({ name: one.name, other: other.name }));
  }
}

/** Load what a correction may have changed, and keep the picture otherwise as it is. */
async function refresh(correction: Correction): Promise<void> {
  const center = model.nodes.get(model.center)?.name ?? correction.name;
  const names = [...model.expanded].map((key) => model.nodes.get(key)?.name ?? "").filter(Boolean);
  if (correction.action === "merge" && names.includes(correction.name)) {
    names.push(correction.other);
  }
  if (correction.action === "split") {
    names.push(correction.other);
  }
  if (["unmerge", "show", "undo"].includes(correction.action)) {
    names.push(correction.name);
  }
  const parts = await Promise.all([...new Set([center, ...names])].map((name) => loadQuietly(name)));
  const loaded = parts.filter((part) => part !== null);
  if (!loaded.length) {
    const next = correction.other;
    return next && correction.action === "merge" ? open(next) : undefined;
  }
  model.clear();
  loaded.forEach((part) => model.add(part));
  render(model.center);
  await select(model.nodes.has(selected) ? selected : model.center);
}

async function loadQuietly(name: string): Promise<Subgraph | null> {
  const query = new URLSearchParams({ entity: name, limit: String(FIRST_LIMIT) });
  const response = await fetch(`/graph/around?${query}`, { headers: { Accept: "application/json" } });
  return response.ok ? ((await response.json()) as Subgraph) : null;
}

function say(text: string): void {
  status.textContent = text;
}

function handleKey(event: KeyboardEvent): void {
  const arrow = ARROWS[event.key];
  if (arrow) {
    event.preventDefault();
    moveTo(selected ? picture.findNext(selected, ...arrow) : model.center);
  } else if (event.key === "Enter" && selected) {
    event.preventDefault();
    void expand(selected);
  } else if (event.key === "Escape") {
    picture.fit();
  } else if (event.key === "Tab") {
    stepThroughNeighbors(event);
  }
}

/** Tab goes from neighbor to neighbor of the entity where it began, and then leaves the picture. */
let round: string[] = [];
function stepThroughNeighbors(event: KeyboardEvent): void {
  if (!round.includes(selected)) {
    const others = model.relationsOf(selected).map((edge) => model.otherEnd(edge, selected)?.key ?? "");
    round = [selected, ...others];
  }
  const next = round[round.indexOf(selected) + (event.shiftKey ? -1 : 1)];
  if (next) {
    event.preventDefault();
    moveTo(next);
  } else {
    round = [];
  }
}

function moveTo(key: string): void {
  const node = model.nodes.get(key);
  if (node) {
    picture.reveal(key);
    say(`${node.name}, ${node.type}, ${node.relations} relations.`);
    void select(key);
  }
}

async function reload(): Promise<void> {
  const center = model.nodes.get(model.center);
  if (center) {
    await open(center.name);
  }
}

canvas.addEventListener("keydown", handleKey);
canvas.addEventListener("blur", () => (round = []));
for (const box of [since, until]) {
  box.addEventListener("change", () => void reload());
}
document.addEventListener("click", (event) => {
  const target = event.target instanceof Element ? event.target : null;
  const row = target?.closest<HTMLElement>("[data-row]");
  const action = target?.closest<HTMLElement>("[data-action]");
  const start = target?.closest<HTMLElement>("[data-start]");
  if (row) {
    void (row.dataset["row"] === "expand" ? expand : select)(row.dataset["key"] ?? "");
  } else if (action) {
    const actions = action.closest<HTMLElement>(".graph-actions");
    if (actions) {
      corrections.ask(actions, action.dataset["action"] ?? "");
    }
  } else if (start) {
    event.preventDefault();
    void open(start.dataset["start"] ?? "");
  }
});
find("#graph-in", HTMLElement).addEventListener("click", () => picture.zoomBy(1.3));
find("#graph-out", HTMLElement).addEventListener("click", () => picture.zoomBy(1 / 1.3));
find("#graph-fit", HTMLElement).addEventListener("click", () => picture.fit());
onThemeChange(() => types.update());
const named = find("#graph-name", HTMLInputElement).value.trim();
if (named) {
  void open(named);
}
