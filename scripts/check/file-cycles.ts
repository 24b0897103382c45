// Files that import each other in a cycle: at run time, or only in their types.
import { readTree, type SourceGraph } from './source-graph.ts';

interface FileCycle {
  readonly files: readonly string[];
  /** At least one edge imports only types: nothing fails at run time, but the files cannot be understood separately. */
  readonly typesOnly: boolean;
}

/** Every cycle as one line, its files in order. Dynamic imports do not count. */
export function findFileCycles(root: string): string[] {
  return fileCycles(readTree(root)).map(
    ({ files, typesOnly }) =>
      `${files.join(', ')}: import each other${typesOnly ? ', types at least' : ' at run time'}`,
  );
}

function fileCycles(graph: SourceGraph): FileCycle[] {
  const runtime = components(graph, (item) => !item.typeOnly && !item.dynamic);
  const all = components(graph, (item) => !item.dynamic);
  const key = (files: readonly string[]): string => files.join(' ');
  const known = new Set(runtime.map(key));
  return [
    ...runtime.map((files) => ({ files, typesOnly: false })),
    ...all.filter((files) => !known.has(key(files))).map((files) => ({ files, typesOnly: true })),
  ];
}

/** Strongly connected components of more than one file (Tarjan, without recursion: the tree is deep). */
function components(
  graph: SourceGraph,
  counts: (item: { readonly typeOnly: boolean; readonly dynamic: boolean }) => boolean,
): string[][] {
  const next = (path: string): string[] => [
    ...new Set(
      (graph.get(path)?.imports ?? [])
        .filter((item) => counts(item) && graph.has(item.from) && item.from !== path)
        .map((item) => item.from),
    ),
  ];
  const index = new Map<string, number>();
  const low = new Map<string, number>();
  const stack: string[] = [];
  const onStack = new Set<string>();
  const found: string[][] = [];
  for (const start of graph.keys()) {
    if (!start.startsWith('src/') || index.has(start)) continue;
    const work: { path: string; edges: string[]; at: number }[] = [];
    const enter = (path: string): void => {
      index.set(path, index.size);
      low.set(path, index.get(path)!);
      stack.push(path);
      onStack.add(path);
      work.push({ path, edges: next(path), at: 0 });
    };
    enter(start);
    while (work.length > 0) {
      const top = work.at(-1)!;
      const to = top.edges[top.at++];
      if (to !== undefined) {
        if (!index.has(to)) enter(to);
        else if (onStack.has(to)) low.set(top.path, Math.min(low.get(top.path)!, index.get(to)!));
        continue;
      }
      work.pop();
      const above = work.at(-1);
      if (above) low.set(above.path, Math.min(low.get(above.path)!, low.get(top.path)!));
      if (low.get(top.path) !== index.get(top.path)) continue;
      const component = stack.splice(stack.indexOf(top.path));
      for (const path of component) onStack.delete(path);
      if (component.length > 1) found.push(component.sort());
    }
  }
  return found;
}
