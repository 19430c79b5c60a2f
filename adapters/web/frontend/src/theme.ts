// Runs before the page is drawn, so that a chosen theme does not flash. It has no imports: it is a plain script.
const THEME_KEY = "threadlore-theme";

function readTheme(): string | null {
  try {
    return localStorage.getItem(THEME_KEY);
  } catch {
    return null; // storage is switched off
  }
}

function applyTheme(theme: string | null): void {
  if (theme === "light" || theme === "dark") {
    document.documentElement.dataset["theme"] = theme;
  }
}

function switchTheme(): void {
  const current = document.documentElement.dataset["theme"];
  const isDark = current ? current === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  const theme = isDark ? "light" : "dark";
  applyTheme(theme);
  try {
    localStorage.setItem(THEME_KEY, theme);
  } catch {
    // the theme lasts as long as the page
  }
}

applyTheme(readTheme());
document.addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("[data-theme-switch]")) {
    switchTheme();
  }
});

export {};
