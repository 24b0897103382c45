// The pages that follow a job and a state through the code. Every step names its file and how it is reached, and that
// is checked: the file of the previous step imports it, or the page states the boundary that is crossed.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readTree, type SourceGraph } from './source-graph.ts';

const pages = ['docs/job-path.md', 'docs/state-path.md'];

/** Between two processes, threads or objects that are connected elsewhere: imports do not show these. */
const boundaries = ['unix socket', 'wire', 'job process', 'thread', 'callback'];

interface Step {
  readonly number: number;
  readonly file: string;
  readonly reached: string;
}

export function findBrokenPaths(root: string): string[] {
  const graph = readTree(root);
  return pages
    .filter((page) => existsSync(join(root, page)))
    .flatMap((page) =>
      checkPage(graph, stepsOf(readFileSync(join(root, page), 'utf8'))).map((text) => `${page}: ${text}`),
    );
}

/** Rows `| 3 | \`src/…\` | imported by 2 | what it does |`. */
function stepsOf(text: string): Step[] {
  return [...text.matchAll(/^\|\s*(\d+)\s*\|\s*`([^`]+)`\s*\|\s*([^|]*?)\s*\|/gm)].map(([, number, file, reached]) => ({
    number: Number(number),
    file: file!,
    reached: reached!,
  }));
}

function checkPage(graph: SourceGraph, steps: readonly Step[]): string[] {
  const files = new Map(steps.map(({ number, file }) => [number, file]));
  const breaches = steps.flatMap((step, at) => [
    ...(step.number === at + 1 ? [] : [`step ${step.number} stands at place ${at + 1}`]),
    ...(graph.has(step.file) ? checkReached(graph, step, files) : [`step ${step.number}: ${step.file} does not exist`]),
  ]);
  return steps.length === 0 ? ['has no steps'] : breaches;
}

function checkReached(
  graph: SourceGraph,
  { number, file, reached }: Step,
  files: ReadonlyMap<number, string>,
): string[] {
  if (reached === 'start') return [];
  const [, how = '', before = ''] = /^(.*?)(?: by|, from) (\d+)$/.exec(reached) ?? [];
  const from = files.get(Number(before));
  if (how !== 'imported' && !boundaries.includes(how))
    return [`step ${number}: "${reached}" is not a way to reach a file (imported by n, ${boundaries.join(', ')})`];
  if (!from || Number(before) === number) return [`step ${number}: no step ${before} to come from`];
  if (how === 'imported' && !imports(graph, from, file))
    return [`step ${number}: ${from} does not import ${file}; follow the code and update the page`];
  return [];
}

/** Directly, or through an index that re-exports the names. */
function imports(graph: SourceGraph, from: string, to: string): boolean {
  const direct = (graph.get(from)?.imports ?? []).map((item) => item.from);
  const passed = (path: string): string[] =>
    (graph.get(path)?.imports ?? [])
      .filter((item) => item.passedOn)
      .flatMap((item) => [item.from, ...passed(item.from)]);
  return direct.some((path) => path === to || passed(path).includes(to));
}
