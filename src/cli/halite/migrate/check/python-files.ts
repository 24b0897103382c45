// Python files of the installation, examined from their syntax by a Python of this machine; nothing of them is run.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { asList, asText, fieldOf, isTexts, type Value } from '../../../../base/codec/value.ts';
import { messageOf } from '../../../../base/errors/index.ts';
import { findPython } from '../../../../engine/python/find.ts';
import { pythonFolder } from '../../../../engine/python/process.ts';

export interface PythonFacts {
  /** Its public functions. */
  readonly functions: readonly string[];
  /** Why it does not load, each with its line; 0 for none. */
  readonly problems: readonly { readonly line: number; readonly what: string }[];
  /** What it calls: `__salt__`, the function, the line. */
  readonly calls: readonly { readonly through: string; readonly fun: string; readonly line: number }[];
}

const patienceMs = 30_000;
const mostRestarts = 20;
const longestAnswer = 1024 * 1024;

/** What each file needs, by path; a text is the reason why none could be examined. */
export async function examinePython(paths: readonly string[]): Promise<Map<string, PythonFacts> | string> {
  const found = new Map<string, PythonFacts>();
  if (paths.length === 0) return found;
  let executable: string;
  try {
    ({ executable } = await findPython({}));
  } catch (error) {
    return messageOf(error);
  }
  let left = [...paths];
  for (let start = 0; start < mostRestarts && left.length > 0; start++) {
    const answered = await examineSome(executable, left, found);
    // A file that ends the program, or holds it up: it is named, and the others are examined by a new one.
    if (answered < left.length)
      found.set(left[answered]!, broken('Python could not read it: it ended, or took too long'));
    left = left.slice(answered + 1);
  }
  for (const path of left) found.set(path, broken('was not examined: too many files ended Python'));
  return found;
}

const broken = (what: string): PythonFacts => ({ functions: [], problems: [{ line: 0, what }], calls: [] });

/** Examines files in order; the number of those that were answered. */
function examineSome(executable: string, paths: readonly string[], found: Map<string, PythonFacts>): Promise<number> {
  return new Promise((done) => {
    const child = spawn(executable, ['-I', `${pythonFolder()}/halite_worker/examine.py`], {
      stdio: ['pipe', 'pipe', 'ignore'],
    });
    let answered = 0;
    let timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
    child.stdin.on('error', () => undefined);
    child.on('error', () => undefined);
    const lines = createInterface({ input: child.stdout });
    lines.on('line', (line) => {
      clearTimeout(timer);
      timer = setTimeout(() => child.kill('SIGKILL'), patienceMs);
      const path = paths[answered];
      if (path !== undefined) found.set(path, line.length > longestAnswer ? broken('is too large') : readFacts(line));
      answered += 1;
    });
    lines.on('close', () => {
      clearTimeout(timer);
      done(answered);
    });
    child.stdin.end(paths.map((path) => `${JSON.stringify(path)}\n`).join(''));
  });
}

function readFacts(line: string): PythonFacts {
  let said: Value;
  try {
    said = JSON.parse(line) as Value;
  } catch {
    return broken('Python gave no answer');
  }
  const problem = asText(fieldOf(said, 'problem'));
  if (problem !== undefined) {
    const hint = fieldOf(said, 'python2') === true ? ' (this is Python 2: 2to3 -w rewrites most of it)' : '';
    return { ...broken(''), problems: [{ line: Number(fieldOf(said, 'line') ?? 0), what: `${problem}${hint}` }] };
  }
  const pairs = (name: string, text: (named: string) => string): { line: number; what: string }[] =>
    (asList(fieldOf(said, name)) ?? []).flatMap((item) => {
      const [named, at] = asList(item) ?? [];
      return typeof named === 'string' ? [{ line: Number(at), what: text(named) }] : [];
    });
  const functions = fieldOf(said, 'functions') ?? null;
  return {
    functions: isTexts(functions) ? functions : [],
    problems: [
      ...pairs('missing', (name) => `${name} is not in the package salt of Halite (docs/guide/your-python.md)`),
      ...pairs('old', (name) => `${name} is a name of Python 2`),
      ...pairs('modules', (name) => `the module ${name} is not installed on this machine`),
    ],
    calls: (asList(fieldOf(said, 'calls')) ?? []).flatMap((item) => {
      const [through, fun, at] = asList(item) ?? [];
      return typeof through === 'string' && typeof fun === 'string' ? [{ through, fun, line: Number(at) }] : [];
    }),
  };
}
