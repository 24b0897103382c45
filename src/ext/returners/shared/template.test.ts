// Allowed sources of templates in returners, and what templates may do.
import { newDict, type PlainDict, type ReturnerContext } from 'halite/sdk';
import { describe, expect, it } from 'vitest';
import { fillTemplate } from './template.ts';

const values: PlainDict = newDict([
  ['jid', '7'],
  ['return', '{{ jid }} #!js'],
]);

function scene(fromJob: readonly string[] = []) {
  const rendered: string[] = [];
  const ctx = {
    fromJob: new Set(fromJob),
    render: async (source: string) => {
      rendered.push(source);
      return 'rendered';
    },
  } as unknown as ReturnerContext;
  const fill = (source: string, renderer?: string): Promise<string> =>
    fillTemplate(ctx, { option: 'body', source, ...(renderer ? { renderer } : {}) }, values);
  return { fill, rendered };
}

describe('a template of the configuration', () => {
  it('is rendered, by the renderers it names', async () => {
    const { fill, rendered } = scene();
    expect(await fill('#!js\n{{ jid }}')).toBe('rendered');
    expect(await fill('{{ jid }}', 'jinja|text')).toBe('rendered');
    expect(rendered).toEqual(['#!js\n{{ jid }}', '#!jinja|text\n{{ jid }}']);
  });

  it('is not rendered by a renderer that the job names', async () => {
    const { fill, rendered } = scene(['renderer']);
    await fill('{{ jid }}', 'js');
    expect(rendered).toEqual(['#!jinja\n{{ jid }}']);
  });
});

describe('a template of a job', () => {
  it('is filled with values and nothing else', async () => {
    const { fill, rendered } = scene(['body']);
    expect(await fill('#!js\n{{ jid }} {% for x in y %} {{ return }} {{ none }}')).toBe(
      '#!js\n7 {% for x in y %} {{ jid }} #!js ',
    );
    expect(await fill('{{ jid }}', 'js')).toBe('7');
    expect(rendered).toEqual([]);
  });
});
