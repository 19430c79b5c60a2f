// The page of a shared answer: its citations lead to their sources.
import { find } from "./lib/dom";
import { followCitations } from "./lib/citations";

followCitations(find("#preview", HTMLElement));
