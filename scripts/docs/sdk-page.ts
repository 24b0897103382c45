// The reference of the SDK and its test kit, read from the doc comments and declarations of src/extend/sdk and src/testing.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { readTree, type SourceFile, type SourceGraph } from '../check/source-graph.ts';

/** Lines. */
const longestTable = 80;

interface Declared {
  readonly name: string;
  readonly doc: string;
  readonly code: string;
}

export function renderSdkPage(root: string): string {
  const graph = readTree(root);
  const folder = 'src/extend/sdk';
  const parts = existsSync(join(root, folder))
    ? readdirSync(join(root, folder), { withFileTypes: true }).filter((entry) => entry.isDirectory())
    : [];
  const entries = [
    { name: 'halite/sdk', path: `${folder}/index.ts` },
    ...parts
      .map(({ name }) => ({ name: `halite/sdk/${name}`, path: `${folder}/${name}/index.ts` }))
      .sort((a, b) => a.name.localeCompare(b.name)),
    { name: 'halite/testing', path: 'src/testing/index.ts' },
  ].filter(({ path }) => graph.has(path));
  const lines = [
    '# The SDK',
    '',
    '<!-- Generated from src/extend/sdk and src/testing; change the doc comments there and run `npm run docs`. -->',
    '',
    'What extensions may import, and `halite/testing` for their tests. How to write one: [extensions](../guide/extensions.md); how to test it: [testing](../guide/testing.md).',
    '',
    ...entries.map(({ name }) => `- [\`${name}\`](#${name.replaceAll('/', '')})`),
    '',
  ];
  for (const { name, path } of entries) lines.push(...section(graph, name, path));
  return `${lines.join('\n').trimEnd()}\n`;
}

function section(graph: SourceGraph, name: string, path: string): string[] {
  const { declared, passedOn } = exportsOf(graph, path, undefined, new Set());
  const lines = [`## ${name}`, '', `${firstComment(graph.get(path)!)}`, ''];
  for (const item of declared.sort((a, b) => a.name.localeCompare(b.name)))
    lines.push(`### ${item.name}`, '', ...(item.doc ? [item.doc, ''] : []), '```ts', item.code, '```', '');
  for (const [from, names] of passedOn)
    lines.push(
      `From \`${from}\`, unchanged: ${[...names]
        .sort()
        .map((one) => `\`${one}\``)
        .join(', ')}.`,
      '',
    );
  return lines;
}

interface Found {
  readonly declared: Declared[];
  /** Names of Node itself, by its module. */
  readonly passedOn: Map<string, Set<string>>;
}

/** What a file exports, followed through `export … from`; only the wanted names when they are given. */
function exportsOf(graph: SourceGraph, path: string, wanted: readonly string[] | undefined, seen: Set<string>): Found {
  const found: Found = { declared: [], passedOn: new Map() };
  const file = graph.get(path);
  if (!file) return found;
  for (const name of file.exports) {
    const declared =
      (!wanted || wanted.includes(name)) && !seen.has(name) ? declarationOf(graph, path, name) : undefined;
    if (!declared) continue;
    seen.add(name);
    found.declared.push(declared);
  }
  for (const item of file.imports.filter(({ passedOn }) => passedOn)) {
    const all = item.names.includes('*');
    const names = all ? wanted : item.names.filter((name) => !wanted || wanted.includes(name));
    if (names?.length === 0) continue;
    const deeper = exportsOf(graph, item.from, names, seen);
    found.declared.push(...deeper.declared);
    for (const [from, more] of deeper.passedOn) addAll(found.passedOn, from, more);
  }
  for (const [, list, from] of file.text.matchAll(/^export \{([^}]*)\} from '(node:[^']+)'/gm))
    addAll(
      found.passedOn,
      from!,
      new Set(
        list!
          .split(',')
          .map((part) => part.trim().replace(/^type /, ''))
          .filter(Boolean),
      ),
    );
  return found;
}

function addAll(map: Map<string, Set<string>>, key: string, values: ReadonlySet<string>): void {
  map.set(key, new Set([...(map.get(key) ?? []), ...values]));
}

/** The comment above a declaration and its text: types whole, functions and classes without their bodies. */
function declarationOf(graph: SourceGraph, path: string, name: string): Declared | undefined {
  const file = graph.get(path)!;
  const start = new RegExp(`^export (?:abstract |async )*(const|function|class|interface|type) ${name}\\b`, 'm').exec(
    file.text,
  );
  if (!start) return undefined;
  const rest = file.text.slice(start.index).replace(/^export (?:async )?/, '');
  const doc = /\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n$/.exec(file.text.slice(0, start.index))?.[1] ?? '';
  return { name, doc: plain(doc), code: guardedCode(graph, path, name, rest) ?? codeOf(start[1]!, rest) };
}

/** `const mkdir = guarded('…', fs.mkdir)`: the type of the function that is called after the check. */
function guardedCode(graph: SourceGraph, path: string, name: string, rest: string): string | undefined {
  const { text, imports } = graph.get(path)!;
  const [, node, own = ''] = /^const \w+ = guarded\('[^']*', (fs\.)?(\w+)/.exec(rest) ?? [];
  const from = /^import \* as fs from '([^']+)'/m.exec(text)?.[1];
  if (node !== undefined) return `const ${name}: typeof import('${from}').${own};`;
  const original = new RegExp(`(\\w+) as ${own}\\b`).exec(text)?.[1];
  const source = imports.find(({ names }) => original !== undefined && names.includes(original));
  return (
    source && declarationOf(graph, source.from, original!)?.code.replace(`function ${original}`, `function ${name}`)
  );
}

const plain = (comment: string): string =>
  comment
    .split('\n')
    .map((line) => line.trim().replace(/^\* ?/, ''))
    .join('\n')
    .trim();

function codeOf(kind: string, rest: string): string {
  if (kind === 'interface') return (/^[^\n]*\{\}|^[\s\S]*?\n\}/.exec(rest)?.[0] ?? rest.split('\n')[0]!).trimEnd();
  if (kind === 'type') return statement(rest);
  if (kind === 'class') return classMembers(rest);
  if (kind === 'function') return `${(/^[\s\S]*?(?= \{\n)/.exec(rest)?.[0] ?? rest.split('\n')[0]!).trimEnd()};`;
  const head = rest.split('\n')[0]!;
  if (head.endsWith(';')) return head;
  const arrow = head.search(/=>(?: |$)/);
  if (arrow >= 0) return `${head.slice(0, arrow)}=> …`;
  // A table of builders is worth reading whole.
  const whole = /^[\s\S]*?\n\}[^\n]*/.exec(rest)?.[0] ?? head;
  return whole.split('\n').length <= longestTable ? whole : `${head} …`;
}

/** Up to the semicolon that ends it: the first one outside of all brackets. */
function statement(rest: string): string {
  let depth = 0;
  for (const [index, sign] of [...rest].entries()) {
    if ('{(['.includes(sign)) depth++;
    else if ('})]'.includes(sign)) depth--;
    else if (sign === ';' && depth === 0) return rest.slice(0, index + 1);
  }
  return rest.split('\n')[0]!;
}

const member = /^ {2}(?!private |protected |(?:static |readonly )*#)[a-zA-Z[]/;

/** The head of a class and its public members with their comments, without their bodies. */
function classMembers(rest: string): string {
  const whole = /^[\s\S]*?\n\}/.exec(rest)?.[0] ?? rest;
  const [head = '', ...lines] = whole.split('\n');
  const shown = [head];
  let comment: string[] = [];
  for (const [at, line] of lines.entries()) {
    if (/^ {2}(?:\/\*\*| \*)/.test(line)) comment.push(line);
    else {
      // Parameters that do not fit into one line end where the bracket closes.
      const end = line.endsWith('(') ? lines.findIndex((later, index) => index > at && /^ {2}\)/.test(later)) : at;
      if (member.test(line))
        shown.push(
          ...comment,
          lines
            .slice(at, end + 1)
            .join('\n')
            .replace(/ \{$/, ';'),
        );
      comment = [];
    }
  }
  return [...shown, '}'].join('\n');
}

/** `// Text.` at the top of a file, without the name of the entry. */
const firstComment = ({ text }: SourceFile): string =>
  (/^\/\/ (.*)/.exec(text)?.[1] ?? '').replace(/^`[^`]+`: /, '').replace(/^[a-z]/, (letter) => letter.toUpperCase());
