// Citations: the passage appears beside the number under the pointer or the focus; a tap leads to the list of sources.

const GAP = 8;

/** Show the passage of a citation in `preview`, and lead taps without a pointer to its source. */
export function followCitations(preview: HTMLElement): void {
  for (const name of ["pointerover", "focusin"] as const) {
    document.addEventListener(name, (event) => showPassage(preview, findCitation(event)));
  }
  document.addEventListener("focusout", () => (preview.hidden = true));
  document.addEventListener("scroll", () => (preview.hidden = true), { capture: true, passive: true });
  document.addEventListener("click", (event) => {
    const citation = findCitation(event);
    if (citation && (matchMedia("(hover: none)").matches || isInList(citation))) {
      event.preventDefault();
      openSource(citation);
    }
  });
}

function findCitation(event: Event): HTMLAnchorElement | null {
  return event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a.citation") : null;
}

function findSource(citation: HTMLAnchorElement): HTMLElement | null {
  return document.getElementById(citation.dataset["source"] ?? "");
}

function isInList(citation: HTMLAnchorElement): boolean {
  return citation.getAttribute("href")?.startsWith("#") ?? false;
}

function openSource(citation: HTMLAnchorElement): void {
  const source = findSource(citation);
  const details = source?.querySelector("details");
  if (source && details) {
    details.open = true;
    source.scrollIntoView({ block: "nearest", behavior: "smooth" });
    details.querySelector("summary")?.focus({ preventScroll: true });
  }
}

function showPassage(preview: HTMLElement, citation: HTMLAnchorElement | null): void {
  const source = citation && findSource(citation);
  preview.hidden = !source;
  if (!citation || !source) {
    return;
  }
  const title = document.createElement("strong");
  title.textContent = source.querySelector(".source-title")?.textContent ?? "";
  const passage = document.createElement("p");
  passage.textContent = source.querySelector(".passage")?.textContent ?? "";
  preview.replaceChildren(title, passage);
  place(preview, citation.getBoundingClientRect());
}

/** Put the preview below a place, or above it where there is no room, and within the window. */
function place(preview: HTMLElement, at: DOMRect): void {
  const { width, height } = preview.getBoundingClientRect();
  const left = Math.min(Math.max(at.left + at.width / 2 - width / 2, GAP), window.innerWidth - width - GAP);
  const above = at.top - height - GAP;
  const top = at.bottom + GAP + height < window.innerHeight || above < 0 ? at.bottom + GAP : above;
  preview.style.left = `${left}px`;
  preview.style.top = `${top}px`;
}
