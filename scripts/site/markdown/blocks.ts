// The blocks of a page in Markdown: what our pages use of it, read line by line.

export type Align = 'left' | 'right' | 'center' | undefined;

export type Block =
  | { readonly kind: 'heading'; readonly level: number; readonly text: string }
  | { readonly kind: 'paragraph'; readonly text: string }
  | { readonly kind: 'code'; readonly language: string; readonly text: string }
  | {
      readonly kind: 'table';
      readonly align: readonly Align[];
      readonly head: readonly string[];
      readonly rows: readonly (readonly string[])[];
    }
  | { readonly kind: 'list'; readonly start: number | undefined; readonly items: readonly (readonly Block[])[] }
  | { readonly kind: 'quote'; readonly blocks: readonly Block[] }
  | { readonly kind: 'rule' };

const heading = /^(#{1,6})\s+(.*?)\s*#*$/;
const fence = /^ {0,3}(`{3,}|~{3,})\s*(\S*)/;
const marker = /^( {0,3})([-*+]|\d{1,9}[.)])( +|$)/;
const rule = /^ {0,3}([-*_])( *\1){2,} *$/;
const delimiterRow = /^ *\|?( *:?-+:? *\|)+( *:?-+:? *)?\|? *$/;

/** A text without its comments, and with line ends of one kind. */
const cleaned = (text: string): string => text.replace(/\r\n?/g, '\n').replace(/^<!--[\s\S]*?-->[ \t]*$/gm, '');

export function readBlocks(text: string): Block[] {
  return new BlockReader(cleaned(text).split('\n')).read();
}

/** A paragraph ends where another kind of block begins. */
const interrupts = (line: string): boolean =>
  line.trim() === '' || heading.test(line) || fence.test(line) || line.startsWith('>') || beginsList(line, true);

function beginsList(line: string, insideParagraph: boolean): boolean {
  const found = marker.exec(line);
  if (!found || rule.test(line)) return false;
  if (!insideParagraph) return true;
  // A number at the start of a line of prose is not a list, unless it is 1.
  return line.trim() !== found[2] && (!/\d/.test(found[2]!) || /^1[.)]/.test(found[2]!));
}

class BlockReader {
  readonly #lines: readonly string[];
  #at = 0;

  constructor(lines: readonly string[]) {
    this.#lines = lines;
  }

  read(): Block[] {
    const blocks: Block[] = [];
    while (this.#at < this.#lines.length) {
      const block = this.#next();
      if (block) blocks.push(block);
    }
    return blocks;
  }

  #line(ahead = 0): string {
    return this.#lines[this.#at + ahead] ?? '';
  }

  #next(): Block | undefined {
    const line = this.#line();
    if (line.trim() === '') {
      this.#at++;
      return undefined;
    }
    const title = heading.exec(line);
    if (title) {
      this.#at++;
      return { kind: 'heading', level: title[1]!.length, text: title[2]! };
    }
    if (fence.test(line)) return this.#fenced();
    if (line.startsWith('    ')) return this.#indented();
    if (rule.test(line)) {
      this.#at++;
      return { kind: 'rule' };
    }
    if (line.startsWith('>')) return this.#quote();
    if (beginsList(line, false)) return this.#list();
    if (line.includes('|') && delimiterRow.test(this.#line(1))) return this.#table();
    return this.#paragraph();
  }

  #fenced(): Block {
    const [, open = '', language = ''] = fence.exec(this.#line()) ?? [];
    const indent = this.#line().search(/\S/);
    this.#at++;
    const text: string[] = [];
    while (this.#at < this.#lines.length) {
      const line = this.#line();
      this.#at++;
      if (line.trim().startsWith(open) && line.trim().replaceAll(open.charAt(0), '') === '') break;
      text.push(line.slice(Math.min(indent, Math.max(line.search(/\S/), 0))));
    }
    return { kind: 'code', language, text: text.join('\n') };
  }

  #indented(): Block {
    const text: string[] = [];
    while (this.#at < this.#lines.length && (this.#line().startsWith('    ') || this.#line().trim() === '')) {
      text.push(this.#line().slice(4));
      this.#at++;
    }
    return { kind: 'code', language: '', text: text.join('\n').trimEnd() };
  }

  #quote(): Block {
    const inside: string[] = [];
    while (this.#line().startsWith('>')) {
      inside.push(this.#line().replace(/^> ?/, ''));
      this.#at++;
    }
    return { kind: 'quote', blocks: new BlockReader(inside).read() };
  }

  #paragraph(): Block {
    const text: string[] = [];
    do {
      text.push(this.#line().trim());
      this.#at++;
    } while (this.#at < this.#lines.length && !interrupts(this.#line()));
    return { kind: 'paragraph', text: text.join('\n') };
  }

  #list(): Block {
    const ordered = /\d/.test(marker.exec(this.#line())?.[2] ?? '');
    const start = ordered ? Number.parseInt(this.#line().trim(), 10) : undefined;
    const items: Block[][] = [];
    while (this.#at < this.#lines.length) {
      const found = marker.exec(this.#line());
      if (!found || rule.test(this.#line()) || /\d/.test(found[2]!) !== ordered) break;
      items.push(this.#item(found[0].length));
    }
    return { kind: 'list', start, items };
  }

  /** The lines of one item: those below it that are indented, and lines that go on with its paragraph. */
  #item(indent: number): Block[] {
    const lines = [this.#line().slice(indent)];
    this.#at++;
    while (this.#at < this.#lines.length) {
      const line = this.#line();
      const blank = line.trim() === '';
      const inside = line.search(/\S/) >= Math.min(indent, 4);
      if (blank && !this.#goesOn(indent)) break;
      if (!blank && !inside && (interrupts(line) || marker.test(line) || lines.at(-1)?.trim() === '')) break;
      lines.push(inside ? line.slice(indent) : line.trimStart());
      this.#at++;
    }
    while (this.#at < this.#lines.length && this.#line().trim() === '' && this.#nextIsItem()) this.#at++;
    return new BlockReader(lines).read();
  }

  /** Whether the next line with text still belongs to the item. */
  #goesOn(indent: number): boolean {
    const next = this.#lines.slice(this.#at).find((line) => line.trim() !== '');
    return next !== undefined && next.search(/\S/) >= Math.min(indent, 4) && next.search(/\S/) > 0;
  }

  #nextIsItem(): boolean {
    const next = this.#lines.slice(this.#at).find((line) => line.trim() !== '');
    return next !== undefined && marker.test(next);
  }

  #table(): Block {
    const head = cells(this.#line());
    const align = cells(this.#line(1)).map(alignOf);
    this.#at += 2;
    const rows: string[][] = [];
    while (this.#line().includes('|') && this.#line().trim() !== '') {
      const row = cells(this.#line());
      rows.push(head.map((_, column) => row[column] ?? ''));
      this.#at++;
    }
    return { kind: 'table', align, head, rows };
  }
}

function alignOf(text: string): Align {
  const [left, right] = [text.startsWith(':'), text.endsWith(':')];
  return right ? (left ? 'center' : 'right') : left ? 'left' : undefined;
}

/** As on GitHub a bar ends a cell, also inside code, unless a backslash is before it. */
function cells(line: string): string[] {
  const inner = line
    .trim()
    .replace(/^\|/, '')
    .replace(/(?<!\\)\|$/, '');
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll('\\|', '|'));
}
