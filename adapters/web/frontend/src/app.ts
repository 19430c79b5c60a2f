// What every page needs: htmx for parts of pages, a sought passage in view, and the end of a login.
import "htmx.org";
import { removeHistory, startHistory } from "./lib/question_store";

startHistory();
document.querySelector('form[action="/logout"]')?.addEventListener("submit", removeHistory);

document.querySelector("[data-sought]")?.scrollIntoView({ block: "center" });
