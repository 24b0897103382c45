// The reference of the error codes, read from the table in src/base/errors/codes.ts.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export function renderErrorsPage(root: string): string {
  const table = join(root, 'src/base/errors/codes.ts');
  const text = existsSync(table) ? readFileSync(table, 'utf8') : '';
  const rows = [...text.matchAll(/^ {2}'([a-z.-]+)': '((?:[^'\\]|\\.)*)',$/gm)];
  const lines = [
    '# Error codes',
    '',
    '<!-- Generated from src/base/errors/codes.ts; change the table there and run `npm run docs`. -->',
    '',
    'Every error of Halite is a `HaliteError`: one of these codes, a message for people, and often a hint what to do next. Extensions raise',
    'the same errors, with `HaliteError` of [the SDK](sdk.md).',
    '',
    '| Code | Meaning |',
    '| --- | --- |',
    ...rows.map(([, code, meaning]) => `| \`${code}\` | ${meaning!.replaceAll("\\'", "'")} |`),
  ];
  return `${lines.join('\n')}\n`;
}
