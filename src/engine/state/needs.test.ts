// States whose module is not available here, and states that choose the module for a name.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Dict } from '../../base/codec/value.ts';
import { defineState, p, state } from '../../extend/sdk/index.ts';
import { asJson, YamlTreeMinion } from './testing.ts';

const minions: YamlTreeMinion[] = [];
afterEach(() => {
  for (const minion of minions.splice(0)) minion.remove();
});

/** States that use `tool.answer`, and one that runs a program that does not exist. */
const tool = defineState({
  name: 'tool',
  doc: 'Uses a tool.',
  available: async ({ callable }) => {
    const why = await callable('tool.answer');
    return why === true || `tool module could not be loaded (${why})`;
  },
  functions: {
    present: state({
      doc: 'Asks.',
      params: { name: p.string() },
      run: async (_, ctx) => ctx.ok(String(await ctx.call<string>('tool.answer'))),
    }),
  },
});
const asks = defineState({
  name: 'asks',
  doc: 'Calls a module that others can replace.',
  functions: {
    run: state({
      doc: 'Asks.',
      params: { name: p.string() },
      run: async (_, ctx) => ctx.ok(String(await ctx.call<string>('asks.answer'))),
    }),
    missing: state({
      doc: 'Runs a program that does not exist.',
      params: { name: p.string() },
      run: async (_, ctx) => ctx.ok((await ctx.exec('halite-no-such-program', [])).stdout),
    }),
  },
});

const answers = (text: string): string => `export const answer = () => '${text}';\n`;

function minionWith(sls: string, modules: Readonly<Record<string, string>>): YamlTreeMinion {
  const minion = new YamlTreeMinion({ files: { 'base/s.sls': sls }, states: { tool, asks } });
  minions.push(minion);
  const folder = join(minion.folder, 'ext', 'modules');
  mkdirSync(folder, { recursive: true });
  for (const [name, text] of Object.entries(modules)) writeFileSync(join(folder, `${name}.mjs`), text);
  return minion;
}

async function commentsOf(minion: YamlTreeMinion): Promise<unknown[]> {
  const { return: value } = await (await minion.open()).apply.sls(['s'], {});
  return Object.values(asJson(value as Dict) as Record<string, { comment: unknown }>).map(({ comment }) => comment);
}

describe('a state module whose needs are not met', () => {
  it('fails only those states, with what is missing, and works once it is installed', async () => {
    const marker = (minion: YamlTreeMinion): string => join(minion.folder, 'installed');
    const sls = (place: string): string =>
      `before: {tool.present: []}\ninstall: {cmd.run: [{name: touch ${place}}, {reload_modules: true}]}\nafter: {tool.present: []}\n`;
    const probe = minionWith('', {});
    const virtual = `import { existsSync } from 'node:fs';
export const __virtual__ = () => existsSync('${marker(probe)}') || [false, 'the tool command was not found'];
${answers('it works')}`;
    const minion = minionWith(sls(marker(probe)), { tool: virtual });
    const [before, install, after] = await commentsOf(minion);
    expect(before).toBe(
      "State 'tool.present' was not found in SLS 's'\nReason: 'tool' __virtual__ returned False: tool module could not be loaded (the tool command was not found)\n",
    );
    expect(install).toBe(`Command "touch ${marker(probe)}" run`);
    expect(existsSync(marker(probe))).toBe(true);
    expect(after).toBe('it works');
  });

  it('names a program that is missing in the middle of a state', async () => {
    expect(await commentsOf(minionWith('x: {asks.missing: []}\n', {}))).toEqual([
      "Command required for 'asks.missing' not found: halite-no-such-program",
    ]);
  });
});

describe('provider', () => {
  it('uses another module for a name, for that state only', async () => {
    const sls = `one: {asks.run: [{provider: other}]}
two: {asks.run: [{provider: [{asks: third}]}]}
three: {asks.run: []}
four: {asks.run: [{provider: nothing}]}
`;
    const own = (text: string): string => `export const __virtual__ = () => false;\n${answers(text)}`;
    const minion = minionWith(sls, { asks: answers('usual'), other: own('other'), third: own('third') });
    expect(await commentsOf(minion)).toEqual(['other', 'third', 'usual', 'usual']);
  });
});
