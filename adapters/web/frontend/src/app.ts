// What every page needs: buttons that copy a link, htmx for parts of pages, a sought passage in view, and the end of a login.
import "htmx.org";
import { removeHistory, startHistory } from "./lib/question_store";

startHistory();
document.querySelector('form[action="/logout"]')?.addEventListener("submit", removeHistory);

document.querySelector("[data-sought]")?.scrollIntoView({ block: "center" });

document.addEventListener("click", (event) => {
  const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-copy-link]") : null;
  if (button) {
    const address = new URL(button.dataset["copyLink"] ?? "", location.origin);
    void navigator.clipboard.writeText(address.href).then(() => {
      (button.querySelector("span") ?? button).textContent = "Copied";
    });
  }
});
