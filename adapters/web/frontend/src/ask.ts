// The page of questions: sends one, shows its answer as it arrives, and keeps the conversation for the next one.
import { find } from "./lib/dom";
import { followCitations } from "./lib/citations";
import { QuestionHistory } from "./lib/question_history";
import { Turn } from "./lib/turn";
import type { AnswerEvent } from "./lib/turn";
import { readLines } from "./lib/ndjson";
import { readProblem, UNREACHABLE } from "./lib/problems";

interface HistoryTurn {
  role: "user" | "assistant";
  content: string;
}

const MAX_TURNS = 20;
const MAX_LENGTH = 20_000;

const form = find("#ask", HTMLFormElement);
const box = find("#question", HTMLTextAreaElement);
const send = find("#send", HTMLButtonElement);
const stop = find("#stop", HTMLButtonElement);
const restart = find("#new-conversation", HTMLButtonElement);
const conversation = find("#conversation", HTMLElement);
const welcome = find("#welcome", HTMLElement);

const asked = new QuestionHistory(askAgain, box);

let history: HistoryTurn[] = [];
let kept: string[] = []; // the ids of the answers in the history
let running: AbortController | null = null;

async function ask(question: string): Promise<void> {
  const turn = new Turn(question);
  const stopping = new AbortController();
  running = stopping;
  welcome.hidden = true;
  conversation.append(turn.element);
  turn.element.scrollIntoView({ block: "start", behavior: "smooth" });
  showRunning(true);
  try {
    await receive(question, turn, stopping.signal);
  } catch (error) {
    if (stopping.signal.aborted) {
      turn.stop();
    } else {
      console.error(error);
      turn.fail(UNREACHABLE);
    }
  }
  if (running === stopping) {
    remember(question, turn);
    running = null;
    showRunning(false);
    box.focus({ preventScroll: true });
  }
}

/** Ask an earlier question; while an answer is being written, it waits in the box. */
function askAgain(question: string): void {
  box.value = question;
  box.focus({ preventScroll: true });
  form.requestSubmit();
}

async function receive(question: string, turn: Turn, signal: AbortSignal): Promise<void> {
  const fields = new FormData(form);
  const mode = fields.get("mode") ?? "mix";
  const as_of = fields.get("as_of") ?? "";
  const timeZone = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  const response = await fetch("/ask", {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/x-ndjson" },
    body: JSON.stringify({ question, mode, as_of, history, time_zone: timeZone, keep: true, earlier: kept }),
    signal,
  });
  if (response.status === 401) {
    location.assign("/login");
  }
  if (!response.ok) {
    turn.fail(await readProblem(response));
    return;
  }
  for await (const event of readLines<AnswerEvent>(response)) {
    turn.handle(event);
  }
  turn.close();
}

/** Keep what was said for the next question; of an answer that is not kept, for example a stopped one, nothing. */
function remember(question: string, turn: Turn): void {
  if (!turn.text) {
    return;
  }
  const said: HistoryTurn[] = [{ role: "user", content: question }];
  if (turn.id) {
    said.push({ role: "assistant", content: turn.text.slice(0, MAX_LENGTH) });
    kept = [...kept, turn.id].slice(-MAX_TURNS);
  }
  history = [...history, ...said].slice(-MAX_TURNS);
}

function showRunning(isRunning: boolean): void {
  send.hidden = isRunning;
  stop.hidden = !isRunning;
  restart.hidden = false;
}

function startAgain(): void {
  running?.abort();
  running = null;
  history = [];
  kept = [];
  conversation.querySelectorAll(".turn").forEach((each) => each.remove());
  welcome.hidden = false;
  showRunning(false);
  restart.hidden = true;
  box.focus();
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  const question = box.value.trim();
  if (question && !running) {
    box.value = "";
    form.querySelectorAll("details").forEach((each) => (each.open = false));
    asked.add(question);
    void ask(question);
  }
});
box.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    form.requestSubmit();
  }
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") {
    running?.abort();
  }
});
stop.addEventListener("click", () => running?.abort());
restart.addEventListener("click", startAgain);
followCitations(find("#preview", HTMLElement));
