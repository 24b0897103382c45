// Formats a function's documentation as a Python docstring, which `sys.doc` and error messages print.
import type { ExtensionFunction } from '../sdk/index.ts';
import type { FunctionKind } from './kinds.ts';

type Documented = Pick<ExtensionFunction, 'doc' | 'rawDoc' | 'examples' | 'params'>;

/** Text, parameters and examples, indented by four as Salt's own; '' when there is none. */
export function docstring(documented: Documented, kind: FunctionKind = 'modules'): string {
  if (documented.rawDoc) return documented.doc;
  const blocks: string[] = [];
  if (documented.doc.trim()) blocks.push(indent(documented.doc.trim(), 4));
  for (const [name, param] of Object.entries(documented.params)) {
    if (param.doc) blocks.push(`    ${name}\n${indent(param.doc.trim(), 8)}`);
  }
  if (documented.examples.length > 0) {
    const lines = documented.examples.map((example) => indent(example, 8));
    // Examples of states are pieces of SLS files, all others are commands.
    const [title, language] = kind === 'states' ? ['Example', 'yaml'] : ['CLI Example', 'bash'];
    blocks.push(`    ${title}:`, `    .. code-block:: ${language}`, lines.join('\n'));
  }
  return blocks.length === 0 ? '' : `\n${blocks.join('\n\n')}\n    `;
}

function indent(text: string, width: number): string {
  const pad = ' '.repeat(width);
  return text
    .split('\n')
    .map((line) => (line.trim() ? pad + line.trimEnd() : ''))
    .join('\n');
}
