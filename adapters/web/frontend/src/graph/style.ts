// The look of the picture, in the colors of the theme.
import type cytoscape from "cytoscape";
import { colorOf, currentPalette } from "./colors";

/** Cytoscape adds a style element, which the policy of the page forbids, unless there is an element with its id. */
export function preventInlineStyle(): void {
  const present = document.createElement("meta");
  present.id = "__________cytoscape_stylesheet";
  document.head.append(present);
}

export function buildStyle(): cytoscape.StylesheetJson {
  const palette = currentPalette();
  return [
    {
      selector: "node",
      style: {
        width: "data(size)",
        height: "data(size)",
        label: "data(label)",
        color: palette.ink,
        "background-color": (node: cytoscape.NodeSingular) => colorOf(node.data("type"), palette),
        "border-width": 1.5,
        "border-color": palette.paper,
        "font-family": "system-ui, sans-serif",
        "font-size": (node: cytoscape.NodeSingular) => (node.data("font") as number | undefined) ?? 12,
        "text-valign": "bottom",
        "text-margin-y": 2,
        "text-outline-color": palette.paper,
        "text-outline-width": 2,
        "overlay-opacity": 0,
      },
    },
    { selector: "node.unlabeled", style: { label: "" } },
    { selector: "node[more > 0]", style: { "border-color": palette.line, "border-width": 2.5 } },
    { selector: "node[isCenter = 1]", style: { "font-weight": "bold", "border-color": palette.ink, "border-width": 2.5 } },
    {
      selector: "edge",
      style: { width: "data(width)", "line-color": palette.thread, "curve-style": "haystack", "overlay-opacity": 0 },
    },
    { selector: "edge.near", style: { "line-color": palette.accent, opacity: 1 } },
    { selector: "edge.chosen", style: { "line-color": palette.accent, opacity: 1, width: 5 } },
    { selector: "node.chosen", style: { "border-color": palette.accent, "border-width": 5 } },
  ] as unknown as cytoscape.StylesheetJson;
}
