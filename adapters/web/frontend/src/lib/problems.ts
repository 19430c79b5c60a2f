// Problem details (RFC 9457) of responses that failed.

export interface Problem {
  title: string;
  status: number;
  detail: string;
  hint?: string;
}

/** The problem of a response, or one in words of our own if it has none. */
export async function readProblem(response: Response): Promise<Problem> {
  try {
    return (await response.json()) as Problem;
  } catch {
    return { title: "Error", status: response.status, detail: `The server answered ${response.status}.` };
  }
}

/** A problem as text: its sentence, then its hint. */
export function describeProblem(problem: Problem): string {
  return [problem.detail, problem.hint].filter(Boolean).join(" ");
}

/** A request that did not reach the server. */
export const UNREACHABLE: Problem = {
  title: "Unreachable",
  status: 0,
  detail: "The server cannot be reached.",
  hint: "Check that it runs, then ask again.",
};
