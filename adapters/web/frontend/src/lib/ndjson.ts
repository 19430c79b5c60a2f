// Streams of lines of JSON.

/** The records of a response, as they arrive. */
export async function* readLines<Line>(response: Response): AsyncGenerator<Line> {
  if (!response.body) {
    return;
  }
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  try {
    for (;;) {
      const { done, value } = await reader.read();
      const lines = (rest + (value ?? "")).split("\n");
      rest = done ? "" : (lines.pop() ?? "");
      for (const line of lines) {
        if (line) {
          yield JSON.parse(line) as Line;
        }
      }
      if (done) {
        return;
      }
    }
  } finally {
    reader.releaseLock();
  }
}
