// A page of Markdown as HTML, with its headings and its text in sections, for the table of contents and the search.
import { anchorMaker } from './anchors.ts';
import { type Align, type Block, readBlocks } from './blocks.ts';
import { diagramHtml } from './diagram.ts';
import { codeHtml } from './highlight.ts';
import { escapeHtml, type InlineOptions, inlineHtml, plainText } from './inline.ts';

export interface Heading {
  readonly level: number;
  readonly title: string;
  readonly anchor: string;
}

/** The text below one heading, without that of the headings below it. */
export interface Section {
  readonly heading: Heading;
  text: string;
}

export interface Rendered {
  readonly title: string;
  readonly html: string;
  readonly headings: readonly Heading[];
  readonly sections: readonly Section[];
  /** Anchors that links of other pages may name. */
  readonly anchors: ReadonlySet<string>;
}

export function renderPage(markdown: string, options: InlineOptions): Rendered {
  const writer = new PageWriter(options);
  const html = writer.blocks(readBlocks(markdown));
  const explicit = [...markdown.matchAll(/<a (?:id|name)="([\w-]+)"/g)].map((found) => found[1]!);
  return {
    title: writer.headings[0]?.title ?? '',
    html,
    headings: writer.headings,
    sections: writer.sections,
    anchors: new Set([...writer.headings.map(({ anchor }) => anchor), ...explicit]),
  };
}

class PageWriter {
  readonly headings: Heading[] = [];
  readonly sections: Section[] = [];
  readonly #options: InlineOptions;
  readonly #anchor = anchorMaker();

  constructor(options: InlineOptions) {
    this.#options = options;
  }

  blocks(blocks: readonly Block[]): string {
    return blocks.map((block) => this.#block(block)).join('\n');
  }

  #inline(text: string): string {
    this.#note(plainText(text));
    return inlineHtml(text, this.#options);
  }

  #note(text: string): void {
    const section = this.sections.at(-1);
    if (section) section.text += `${section.text === '' ? '' : ' '}${text.replace(/\s+/g, ' ').trim()}`;
  }

  #block(block: Block): string {
    switch (block.kind) {
      case 'heading':
        return this.#heading(block.level, block.text);
      case 'paragraph':
        return this.#paragraph(block.text);
      case 'code':
        return this.#code(block.language, block.text);
      case 'table':
        return this.#table(block.align, block.head, block.rows);
      case 'list': {
        const items = block.items.map((item) => `<li>${this.#item(item)}</li>`).join('\n');
        const { start } = block;
        return start === undefined
          ? `<ul>\n${items}\n</ul>`
          : `<ol${start === 1 ? '' : ` start="${start}"`}>\n${items}\n</ol>`;
      }
      case 'quote':
        return `<blockquote>${this.blocks(block.blocks)}</blockquote>`;
      default:
        return '<hr>';
    }
  }

  #heading(level: number, text: string): string {
    const heading = { level, title: plainText(text), anchor: this.#anchor(text) };
    this.headings.push(heading);
    this.sections.push({ heading, text: '' });
    const inside = inlineHtml(text, this.#options);
    const link =
      level === 1 ? '' : ` <a class="anchor" href="#${heading.anchor}" aria-hidden="true" tabindex="-1">#</a>`;
    return `<h${level} id="${heading.anchor}">${inside}${link}</h${level}>`;
  }

  /** A picture alone in its paragraph is a figure: what it shows stands below it. */
  #paragraph(text: string): string {
    const picture = /^!\[([^\]]*)\]\([^)]*\)$/.exec(text);
    if (!picture) return `<p>${this.#inline(text)}</p>`;
    return `<figure>${this.#inline(text)}<figcaption aria-hidden="true">${escapeHtml(picture[1]!)}</figcaption></figure>`;
  }

  /** Short items are one paragraph, which needs no space around it. */
  #item(blocks: readonly Block[]): string {
    const [first, ...rest] = blocks;
    if (first?.kind !== 'paragraph') return this.blocks(blocks);
    const text = this.#inline(first.text);
    return rest.length === 0 ? text : `${text}\n${this.blocks(rest)}`;
  }

  #code(language: string, text: string): string {
    this.#note(text);
    return language === 'mermaid' ? diagramHtml(text) : codeHtml(language, text);
  }

  #table(align: readonly Align[], head: readonly string[], rows: readonly (readonly string[])[]): string {
    const cell = (tag: string, text: string, column: number): string => {
      const side = align[column] === 'right' || align[column] === 'center' ? ` class="${align[column]}"` : '';
      return `<${tag}${tag === 'th' ? ' scope="col"' : ''}${side}>${this.#inline(text)}</${tag}>`;
    };
    const line = (tag: string, row: readonly string[]): string =>
      `<tr>${row.map((text, column) => cell(tag, text, column)).join('')}</tr>`;
    const top = head.some((text) => text !== '') ? `<thead>${line('th', head)}</thead>\n` : '';
    const body = rows.map((row) => line('td', row)).join('\n');
    // Reached with the keyboard, so that a wide table can be scrolled.
    return `<div class="table" tabindex="0" role="region" aria-label="${escapeHtml(plainText(head.filter((text) => text !== '').join(', ')) || 'table')}"><table>\n${top}<tbody>\n${body}\n</tbody></table></div>`;
  }
}
