// The error of the YAML reader: PyYAML's wording, the position, and an excerpt of the source.
import { HaliteError } from '../../errors/index.ts';

export type YamlErrorCode = 'render.failed' | 'config.syntax';

/**
 * The part that refused the text, named as Python's exception. `recursive` and `limit` exist only in Halite: it holds
 * no cyclic values, and bounds depth and alias expansion.
 */
export type YamlErrorKind =
  | 'ReaderError'
  | 'ScannerError'
  | 'ParserError'
  | 'ComposerError'
  | 'ConstructorError'
  | 'ValueError'
  | 'IndexError'
  | 'KeyError'
  | 'AttributeError'
  | 'recursive'
  | 'limit';

export interface YamlFault {
  readonly kind: YamlErrorKind;
  readonly problem: string;
  readonly pos: number;
  readonly context?: string | undefined;
  readonly contextPos?: number | undefined;
  /** Reader errors name a character and its offset in bytes. */
  readonly character?: number;
  readonly offset?: number;
}

/** The text that was read: its name, and where a position is. */
interface ReadText {
  readonly text: string;
  readonly name: string;
  readonly code: YamlErrorCode;
  locate(pos: number): { readonly line: number; readonly column: number };
}

/** Text that is not acceptable YAML. */
export class YamlError extends HaliteError {
  readonly kind: YamlErrorKind;
  /** The problem, in libyaml's words. */
  readonly problem: string;
  /** What was being read, when that helps to find the problem. */
  readonly context: string | undefined;
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly contextLine: number | undefined;
  readonly contextColumn: number | undefined;
  /** The lines around the problem, with the faulty one marked, in the format of Salt's render errors. */
  readonly excerpt: string;

  constructor(source: ReadText, fault: YamlFault) {
    const place = source.locate(fault.pos);
    const about = fault.contextPos === undefined ? undefined : source.locate(fault.contextPos);
    const inFile = `  in "${source.name}", `;
    const lines: string[] = [];
    if (fault.context !== undefined) lines.push(fault.context);
    if (about && (about.line !== place.line || about.column !== place.column)) {
      lines.push(`${inFile}line ${about.line}, column ${about.column}`);
    }
    if (fault.character === undefined) {
      lines.push(fault.problem, `${inFile}line ${place.line}, column ${place.column}`);
    } else {
      const hex = fault.character.toString(16).padStart(4, '0');
      lines.push(`unacceptable character #x${hex}: ${fault.problem}`, `${inFile}position ${fault.offset ?? 0}`);
    }
    super(source.code, lines.join('\n'), { details: { file: source.name, line: place.line, column: place.column } });
    this.name = 'YamlError';
    this.kind = fault.kind;
    this.problem = fault.problem;
    this.context = fault.context;
    this.file = source.name;
    this.line = place.line;
    this.column = place.column;
    this.contextLine = about?.line;
    this.contextColumn = about?.column;
    this.excerpt = excerptOf(source.text, place.line);
  }
}

/** Up to five lines either side of a line, `[...]` where cut, the line marked. */
export function excerptOf(text: string, line: number, around = 5): string {
  const lines = text.replace(/^\ufeff/, '').split(/\r\n|[\n\r\x85\u2028\u2029]/);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  const at = Math.min(line, lines.length) - 1;
  const from = Math.max(0, at - around);
  const to = Math.min(lines.length, at + around + 1);
  const shown = lines.slice(from, to).map((content, i) => {
    const cut = content.length > 200 ? `${content.slice(0, 200)} ...` : content;
    return from + i === at ? `${cut}    <======================` : cut;
  });
  if (from > 0) shown.unshift('[...]');
  if (to < lines.length) shown.push('[...]');
  return `---\n${shown.join('\n')}\n---`;
}
