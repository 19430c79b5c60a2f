// What every page needs: htmx for parts of pages, the current entry of the navigation and a sought passage in view, and the end of a login.
import "htmx.org";
import { removeHistory, startHistory } from "./lib/question_store";

startHistory();
document.querySelector('form[action="/logout"]')?.addEventListener("submit", removeHistory);

const current = document.querySelector<HTMLElement>(".shell nav [aria-current]");
const bar = current?.closest("nav");
if (current && bar) {
  bar.scrollLeft += current.getBoundingClientRect().left - (bar.clientWidth - current.offsetWidth) / 2;
}

document.querySelector("[data-sought]")?.scrollIntoView({ block: "center" });
