// Finds the line of a template that produced a line of its output.

/** What a template expression may produce in the output. */
const expression = /\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}/g;
const around = 3;

type Fits = (rendered: string) => boolean;

/** A test whether a source line can have produced an output line; undefined when it contains too little text. */
function fitsLine(line: string): Fits | undefined {
  const literal = line.replace(expression, '');
  if (literal.replace(/[\s:'"-]/g, '') === '') return undefined;
  if (literal === line) return (rendered) => rendered === line;
  const parts = line.split(expression);
  return (rendered) => occurInOrder(parts, rendered);
}

/** The first part begins the text, the last ends it, the others are between them in order. */
function occurInOrder(parts: readonly string[], text: string): boolean {
  const first = parts[0] ?? '';
  const last = parts.at(-1) ?? '';
  if (!text.startsWith(first) || !text.endsWith(last)) return false;
  let at = first.length;
  for (const part of parts.slice(1, -1)) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return at <= text.length - last.length;
}

/** Line numbers count from 1; undefined when no line of the source is similar. */
export function sourceLine(source: string, rendered: string, line: number): number | undefined {
  if (source === rendered) return line;
  const output = rendered.split('\n');
  const wanted = output[line - 1];
  if (wanted === undefined || wanted.trim() === '') return undefined;
  const tests = source.split('\n').map(fitsLine);
  let best: number | undefined;
  let bestScore = Number.NEGATIVE_INFINITY;
  for (const [at, fits] of tests.entries()) {
    if (!fits?.(wanted)) continue;
    const score = neighbours(tests, output, at, line - 1) - Math.abs(at - (line - 1)) / (tests.length + 1);
    if (score > bestScore) {
      best = at + 1;
      bestScore = score;
    }
  }
  return best;
}

/** How many surrounding lines match as well: repeated lines are distinguished by their neighbours. */
function neighbours(tests: readonly (Fits | undefined)[], output: readonly string[], at: number, line: number): number {
  let count = 0;
  for (let step = 1; step <= around; step++) {
    for (const sign of [-1, 1]) {
      const rendered = output[line + sign * step];
      if (rendered !== undefined && tests[at + sign * step]?.(rendered)) count++;
    }
  }
  return count;
}
