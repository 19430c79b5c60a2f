// Small helpers for elements of a page.

/** The element that a selector finds; the page is wrong without it. */
export function find<Kind extends Element>(selector: string, kind: new () => Kind, root: ParentNode = document): Kind {
  const found = root.querySelector(selector);
  if (!(found instanceof kind)) {
    throw new Error(`The page has no ${selector}.`);
  }
  return found;
}

/** Move the focus to another element if it is within one that is about to disappear. */
export function moveFocus(from: Element, to: HTMLElement): void {
  if (from.contains(document.activeElement)) {
    to.focus({ preventScroll: true });
  }
}

/** A copy of the first element of a template. */
export function cloneTemplate(selector: string): HTMLElement {
  const content = find(selector, HTMLTemplateElement).content.cloneNode(true) as DocumentFragment;
  const first = content.firstElementChild;
  if (!(first instanceof HTMLElement)) {
    throw new Error(`The template ${selector} is empty.`);
  }
  return first;
}
