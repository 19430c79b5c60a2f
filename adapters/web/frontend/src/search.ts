// The page of the search: days of its filters begin in the time zone of the browser.
import { find } from "./lib/dom";

find("#search-form [name=zone]", HTMLInputElement).value = new Intl.DateTimeFormat().resolvedOptions().timeZone;
