// The colors of the picture, as the canvas needs them: each has a contrast of at least 4.5 to its background.

export interface Palette {
  paper: string;
  ink: string;
  soft: string;
  line: string;
  thread: string;
  accent: string;
  types: readonly string[];
}

// The order is that of TYPES; the last color is for all other types.
const LIGHT: Palette = {
  paper: "#ffffff",
  ink: "#23232e",
  soft: "#5c5c6b",
  line: "#b9b7c2",
  thread: "#cbc9d3",
  accent: "#4f46c8",
  types: ["#c2410c", "#1d5fc4", "#15803d", "#a21caf", "#6d4fd0", "#0b7285", "#8a5a06", "#be1250", "#59616b"],
};
const DARK: Palette = {
  paper: "#1a1b23",
  ink: "#ebebf0",
  soft: "#aaaab8",
  line: "#53536a",
  thread: "#42424f",
  accent: "#b7adff",
  types: ["#fb9a5b", "#7fb0ff", "#66cf8d", "#e592f0", "#b9a8ff", "#57cfe2", "#e4ba55", "#ff93ac", "#a6b0bc"],
};
const TYPES: readonly (readonly string[])[] = [
  ["person", "creature", "people"],
  ["organization", "organisation", "team", "group", "company"],
  ["location", "place", "geo", "city", "country"],
  ["event", "date", "time"],
  ["concept", "topic", "idea"],
  ["product", "artifact", "object", "naturalobject", "equipment", "vehicle"],
  ["document", "content", "file", "work"],
  ["method", "technology", "data", "code", "software"],
];

export function isDark(): boolean {
  const chosen = document.documentElement.dataset["theme"];
  return chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

export function currentPalette(): Palette {
  return isDark() ? DARK : LIGHT;
}

export function colorOf(type: string, palette: Palette): string {
  const place = TYPES.findIndex((names) => names.includes(type.toLowerCase()));
  return palette.types.at(place) ?? palette.soft; // -1 is the last one
}

/** Call a function when the theme changes, by the switch or by the system. */
export function onThemeChange(change: () => void): void {
  new MutationObserver(change).observe(document.documentElement, { attributeFilter: ["data-theme"] });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", change);
}
