// Reads the comment above an exported function: its documentation, examples and descriptions of parameters.

export interface CommentDoc {
  readonly doc: string;
  readonly examples: string[];
  readonly params: Map<string, string>;
}

/** The documentation of one exported name in a source text; empty when there is no comment directly above it. */
export function readComment(source: string, name: string): CommentDoc {
  const escaped = name.replace(/\$/g, '\\$');
  const declared = new RegExp(
    `^[ \\t]*(?:export\\s+)?(?:(?:async\\s+)?function\\s*\\*?\\s*|(?:const|let|var)\\s+)${escaped}(?![\\w$])`,
    'm',
  ).exec(source);
  return parseComment(declared ? commentBefore(source.slice(0, declared.index)) : '');
}

/** The comment a source file starts with, for the module as a whole. */
export function readFileComment(source: string): string {
  const block = /^\s*\/\*\*?([\s\S]*?)\*\//.exec(source);
  if (block) return cleanLines(block[1]!);
  const lines = /^\s*((?:\/\/[^\n]*\n)+)/.exec(source);
  return lines ? cleanLines(lines[1]!) : '';
}

function commentBefore(text: string): string {
  const before = text.trimEnd();
  if (before.endsWith('*/')) {
    const open = before.lastIndexOf('/*');
    return open < 0 ? '' : cleanLines(before.slice(open, -2).replace(/^\/\*+/, ''));
  }
  const lines: string[] = [];
  for (const line of before.split('\n').reverse()) {
    if (!/^\s*\/\//.test(line)) break;
    lines.unshift(line);
  }
  return cleanLines(lines.join('\n'));
}

function cleanLines(text: string): string {
  return text
    .split('\n')
    .map((line) => line.replace(/^\s*(?:\/\/|\*)? ?/, '').trimEnd())
    .join('\n')
    .trim();
}

function parseComment(text: string): CommentDoc {
  const doc: string[] = [];
  const examples: string[] = [];
  const params = new Map<string, string>();
  let inExamples = false;
  for (const line of text.split('\n')) {
    const param = /^@param\s+(?:\{[^}]*\}\s*)?\[?([\w$]+)[^\s]*\s*-?\s*(.*)$/.exec(line);
    const example = /^(.*?)\s*\bCLI(?: Examples?)?:\s*(.*)$/.exec(line);
    if (param) params.set(param[1]!, param[2]!);
    else if (example) {
      inExamples = true;
      if (example[1]) doc.push(example[1]);
      if (example[2]) examples.push(example[2]);
    } else if (line.startsWith('@')) inExamples = false;
    else if (inExamples && line.trim()) examples.push(line.trim());
    else if (!inExamples) doc.push(line);
  }
  return { doc: doc.join('\n').trim(), examples, params };
}
