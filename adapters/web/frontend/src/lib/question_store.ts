// The questions that were asked in this browser during this login, newest first; answers are not kept.
const KEY = "threadlore-questions";
const MAX_QUESTIONS = 100;
const MAX_CHARACTERS = 200_000; // of all of them

interface Stored {
  login: string;
  questions: string[];
}

/** The opaque id of the login, which the server renders; null on a page that shows nobody's. */
export const login = document.body.dataset["login"] ?? null;

function read(): Stored | null {
  try {
    const found = JSON.parse(localStorage.getItem(KEY) ?? "null") as Partial<Stored> | null;
    const isWhole = typeof found?.login === "string" && Array.isArray(found.questions);
    return isWhole ? (found as Stored) : null;
  } catch {
    return null; // storage is switched off, or holds something else
  }
}

function write(questions: string[]): void {
  try {
    localStorage.setItem(KEY, JSON.stringify({ login, questions }));
  } catch {
    // without storage there is no history
  }
}

/** Begin an empty history if the one that is stored belongs to another login. */
export function startHistory(): void {
  if (login !== null && read()?.login !== login) {
    write([]);
  }
}

/** Remove everything, also from other tabs, which cannot add to it afterwards. */
export function removeHistory(): void {
  try {
    localStorage.removeItem(KEY);
  } catch {
    // there is nothing to remove
  }
}

export function listQuestions(): string[] {
  const stored = read();
  return stored && stored.login === login ? stored.questions.filter((each) => typeof each === "string") : [];
}

/** Add a question, unless somebody else has logged in, or this person out, in another tab. */
export function addQuestion(question: string): void {
  if (read()?.login !== login) {
    return;
  }
  const newest = [question, ...listQuestions().filter((each) => each !== question)].slice(0, MAX_QUESTIONS);
  let length = 0;
  write(newest.filter((each) => (length += each.length) <= MAX_CHARACTERS));
}

export function clearQuestions(): void {
  if (read()?.login === login) {
    write([]);
  }
}

/** Call back when another tab has changed the history. */
export function onHistoryChange(callback: () => void): void {
  addEventListener("storage", (event) => {
    if (event.key === KEY || event.key === null) {
      callback();
    }
  });
}
