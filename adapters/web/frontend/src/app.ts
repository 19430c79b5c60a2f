// What every page needs: htmx for parts of pages, and the current entry of the navigation in view.
import "htmx.org";

const current = document.querySelector<HTMLElement>(".shell nav [aria-current]");
const bar = current?.closest("nav");
if (current && bar) {
  bar.scrollLeft += current.getBoundingClientRect().left - (bar.clientWidth - current.offsetWidth) / 2;
}
