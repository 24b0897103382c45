import { describe, expect, it } from 'vitest';
import { readBlocks } from './blocks.ts';
import { inlineHtml, plainText } from './inline.ts';
import { renderPage } from './page.ts';

const options = { link: (target: string) => target, image: (target: string) => target };
const html = (text: string): string => renderPage(text, options).html;

describe('blocks', () => {
  it('go on until another kind begins, without empty lines between them', () => {
    expect(readBlocks('# One\ntext\nmore\n- a\n- b\n  b2\n\nin 1990.\n1990. no list\n\n    code\n')).toEqual([
      { kind: 'heading', level: 1, text: 'One' },
      { kind: 'paragraph', text: 'text\nmore' },
      {
        kind: 'list',
        start: undefined,
        items: [[{ kind: 'paragraph', text: 'a' }], [{ kind: 'paragraph', text: 'b\nb2' }]],
      },
      { kind: 'paragraph', text: 'in 1990.\n1990. no list' },
      { kind: 'code', language: '', text: 'code' },
    ]);
  });

  it('of a list item are indented: code, and lists inside', () => {
    const [list] = readBlocks('1. one\n\n   ```yaml\n   a:\n     - b\n   ```\n\n2. two\n   - x\n   - y\n3. three\n');
    expect(list).toEqual({
      kind: 'list',
      start: 1,
      items: [
        [
          { kind: 'paragraph', text: 'one' },
          { kind: 'code', language: 'yaml', text: 'a:\n  - b' },
        ],
        [
          { kind: 'paragraph', text: 'two' },
          {
            kind: 'list',
            start: undefined,
            items: [[{ kind: 'paragraph', text: 'x' }], [{ kind: 'paragraph', text: 'y' }]],
          },
        ],
        [{ kind: 'paragraph', text: 'three' }],
      ],
    });
  });

  it('of a table have a cell for each column; a bar after a backslash is text', () => {
    const [table] = readBlocks('| a | b |\n| --- | ---: |\n| `x \\| y` | 1 |\n| only |\n');
    expect(table).toEqual({
      kind: 'table',
      align: [undefined, 'right'],
      head: ['a', 'b'],
      rows: [
        ['`x | y`', '1'],
        ['only', ''],
      ],
    });
  });

  it('leave comments out, and keep those that are code', () => {
    expect(html('<!-- a\nb -->\ntext\n')).toBe('<p>text</p>');
    expect(html('```\n<b>\n```')).toContain('&lt;b&gt;');
  });
});

describe('lines', () => {
  it('become HTML in which nothing of the text is markup', () => {
    const text = 'a <script> & `<b> | *x*` **bold `c`** *soft* 2 * 3 * 4 snake_case_name \\*no\\*';
    expect(inlineHtml(text, options)).toBe(
      'a &lt;script&gt; &amp; <code>&lt;b&gt; | *x*</code> <strong>bold <code>c</code></strong> <em>soft</em> 2 * 3 * 4 snake_case_name *no*',
    );
    expect(inlineHtml('[a](javascript:alert)', { ...options, link: () => undefined })).toBe('a');
    expect(inlineHtml('[x](a"b.md)', options)).toBe('<a href="a&quot;b.md">x</a>');
  });

  it('have a text without marks, for the search', () => {
    expect(plainText('see [the `page`](x.md), **now** <here>')).toBe('see the page, now <here>');
  });
});

describe('a page', () => {
  it('has the anchors that GitHub gives to headings', () => {
    const page = renderPage('# T\n## Show `x`, y\n## Show `x`, y\n## 文件 不一致\n## [l](x.md)\n', options);
    expect(page.title).toBe('T');
    expect(page.headings.map(({ anchor }) => anchor)).toEqual(['t', 'show-x-y', 'show-x-y-1', '文件-不一致', 'l']);
  });

  it('marks what is typed in a terminal, and what is printed', () => {
    expect(html('    $ salt x\n    a: $ b')).toContain(
      '<span class="prompt">$ </span><span class="typed">salt x</span>\n<span class="out">a: $ b</span>',
    );
  });

  it('draws flowcharts and sequences, and shows other diagrams as text', () => {
    const flow = html(
      '```mermaid\nflowchart LR\n  subgraph g [a group]\n    a["one <x>"] --> b\n  end\n  b -- "says" --> c[("store")]\n  c --> a\n```',
    );
    expect(flow).toContain('one &lt;x&gt;');
    expect(flow.match(/class="edge"/g)).toHaveLength(3);
    expect(flow).not.toContain('NaN');
    const sequence = html(
      '```mermaid\nsequenceDiagram\n  participant a as salt\n  a->>b: do it\n  Note over b: thinks\n  b-->>a: done\n```',
    );
    expect(sequence).toContain('class="edge dashed"');
    expect(sequence).not.toContain('NaN');
    expect(html('```mermaid\npie\n "a": 1\n```')).toContain('<pre');
  });
});
