// Extensions of users in TypeScript, of every kind: fetched, used without a restart, and reported when they are
// invalid.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

let fleet: Deployment;
const call = async (...args: string[]): Promise<unknown> => (await fleet.json('m1', ...args, '-t', '60'))['m1'];

function tree(files: Record<string, string>): void {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(fleet.path(name)), { recursive: true });
    writeFileSync(fleet.path(name), text);
  }
}

const files = (): Record<string, string> => ({
  'srv/salt/top.sls': "base:\n  '*': [none]\ndev:\n  '*': [none]\n",
  'srv/salt/none.sls': '{}\n',
  'srv/dev/none.sls': '{}\n',
  'srv/salt/_modules/typed.ts': `import { defineModule, fn, p, type Value } from 'halite/sdk';
import { dumpYaml, loadJson } from 'halite/sdk/codec';
import { mergeRecurse } from 'halite/sdk/data';
import { baseName, existsSync } from 'halite/sdk/fs';
import { isJid } from 'halite/sdk/jobs';
import { parseIp } from 'halite/sdk/net';
import { which } from 'halite/sdk/system';
import { matchesGlob } from 'halite/sdk/text';
import { strftime } from 'halite/sdk/time';
const parts = [dumpYaml, loadJson, mergeRecurse, baseName, existsSync, isJid, parseIp, which, matchesGlob, strftime];
if (parts.some((part) => typeof part !== 'function')) throw new Error('A part of the SDK is missing');
const twice = (n: number): Value => loadJson(String(n * 2));
export default defineModule({
  name: 'typed', doc: 'Typed.',
  functions: { twice: fn({ doc: 'Twice.', params: { n: p.int({ doc: 'a number' }) }, run: async ({ n }: { n: number }) => twice(n) }) },
});\n`,
  'srv/dev/_modules/only_dev.ts':
    'export function where(name: string = "dev"): string {\n  return ["from", name].join(" ");\n}\n',
  'srv/salt/_states/noted.ts': `import { defineState, p, state } from 'halite/sdk';
export default defineState({
  name: 'noted', doc: 'Notes.',
  functions: { done: state({ doc: 'Is done.', params: { name: p.string({ doc: 'what' }) }, run: async ({ name }, ctx) => ctx.ok(\`\${name as string} is done\`) }) },
});\n`,
  'srv/salt/_grains/shelf.ts':
    'export function shelf(): Record<string, string> {\n  return { shelf: "A3" as string };\n}\n',
  'srv/salt/_returners/paper.ts': `import { appendFileSync } from 'node:fs';
interface Load { readonly return: unknown }
export function returner(this: unknown, ret: Load): void {
  appendFileSync('${fleet.path('paper')}', JSON.stringify(ret.return) + '\\n');
}\n`,
  'srv/salt/_renderers/words.ts': `import { defineRenderer, newDict, type Value } from 'halite/sdk';
export default defineRenderer({
  name: 'words', doc: 'One state for each word.', input: 'text', output: 'data',
  render: (text) => newDict((text as string).split(/\\s+/).filter((word) => /^\\w/.test(word)).map((word): [string, Value] => [word, { 'noted.done': [] }])),
});\n`,
  'srv/salt/words.sls': '#!words\none two\n',
  'master-ext/pillar/shop.ts': `import { definePillar, newDict, p } from 'halite/sdk';
export default definePillar({
  name: 'shop', doc: 'A shop.', params: { name: p.string({ doc: 'its name' }) },
  compile: async ({ name }: { name: string }, ctx) => newDict([['shop', \`\${name} of \${ctx.minionId as string}\`]]),
});\n`,
});

function commit(sls: string): void {
  const git = (...args: string[]): void => {
    const settings = ['-c', 'user.name=t', '-c', 'user.email=t@t', '-c', 'commit.gpgsign=false'];
    execFileSync('git', [...settings, ...args], { cwd: fleet.path('repository'), stdio: 'ignore' });
  };
  tree({ 'repository/top.sls': "base:\n  '*': [g]\n", 'repository/g.sls': sls });
  if (!existsSync(fleet.path('repository/.git'))) git('init', '-q', '-b', 'master');
  git('add', '-A');
  git('commit', '-q', '-m', 'next');
}

const runner = async (...args: string[]): Promise<unknown> => {
  const { stdout, stderr } = await fleet.run('salt-run', [...args, '--out=json']);
  if (stdout === '') throw new Error(`salt-run ${args.join(' ')} printed nothing:\n${stderr}`);
  return JSON.parse(stdout);
};

beforeAll(async () => {
  fleet = await Deployment.create();
  const own = [
    `file_roots: {base: [${fleet.path('srv/salt')}], dev: [${fleet.path('srv/dev')}]}`,
    `extension_modules: ${fleet.path('master-ext')}`,
    `ext_pillar: [{shop: corner}, {git: [{'master file://${fleet.path('repository')}': [{name: mine}]}]}]`,
    'git_pillar_update_interval: 3600',
    'fileserver_list_cache_time: 0',
  ];
  writeFileSync(fleet.path('etc/master.d/own.conf'), `${own.join('\n')}\n`);
  tree(files());
  commit('from_git: one\n');
  await fleet.startMaster();
  fleet.startMinion('m1');
  await fleet.answering('m1');
});
afterAll(() => fleet?.destroy());

it('are fetched from the environments of the top file', async () => {
  expect(await call('saltutil.sync_all')).toMatchObject({
    modules: ['modules.typed', 'modules.only_dev'],
    states: ['states.noted'],
    grains: ['grains.shelf'],
    returners: ['returners.paper'],
    renderers: ['renderers.words'],
  });
  await eventually('the new job processes', async () => (await call('typed.twice', '21')) === 42);
  expect(await call('only_dev.where')).toBe('from dev');
  expect(await call('grains.get', 'shelf')).toBe('A3');
});

it('work as states, renderers, returners and external pillars', async () => {
  const states = (await call('state.apply', 'words')) as Record<string, { comment: string; result: boolean }>;
  expect(Object.values(states).map(({ comment, result }) => [comment, result])).toEqual([
    ['one is done', true],
    ['two is done', true],
  ]);
  await call('test.echo', 'on paper', '--return', 'paper');
  const paper = (): string => (existsSync(fleet.path('paper')) ? readFileSync(fleet.path('paper'), 'utf8') : '');
  await eventually('the returner', () => paper().includes('"on paper"'));
  expect(await call('pillar.get', 'shop')).toBe('corner of m1');
});

it('are reported when they cannot be fetched', async () => {
  tree({ 'srv/salt/_modules/bad.ts': 'export function x(: number) {}\n' });
  const told = await fleet.salt('m1', 'saltutil.sync_modules', 'saltenv=base', '--out=json', '--static', '-t', '60');
  expect(JSON.parse(told.stdout)).toEqual({ m1: [expect.stringMatching(/^salt:\/\/_modules\/bad\.ts: ./)] });
  expect(told.code).not.toBe(0);
  // What another environment brought is not of this one.
  expect(existsSync(fleet.path('m1/cache/extmods/modules/only_dev.mjs'))).toBe(false);
});

it('of a masterless minion are read where they lie', async () => {
  const config = fleet.configureMinion('alone', `file_client: local\nmodule_dirs: [${fleet.path('srv/dev/_modules')}]`);
  const args = ['-c', config, '--local', 'only_dev.where', 'here', '--out=json'];
  const { stdout } = await runProgram(`${halite.bin}/salt-call`, args);
  expect(JSON.parse(stdout)).toEqual({ local: 'from here' });
});

it('are synced to the master itself with its own runner', async () => {
  tree({ 'srv/salt/_runners/hello.ts': 'export function world(who: string = "all"): string {\n  return who;\n}\n' });
  expect(await runner('saltutil.sync_runners')).toEqual(['runners.hello']);
  expect(await runner('hello.world', 'you')).toBe('you');
  const all = await runner('saltutil.sync_all');
  expect(all).toMatchObject({ runners: [], modules: ['modules.typed'], problems: [expect.stringContaining('bad.ts')] });
});

it('git pillars are fetched on request', async () => {
  const id = `master file://${fleet.path('repository')}`;
  expect(await call('pillar.items')).toMatchObject({ from_git: 'one' });
  expect(await runner('git_pillar.update')).toEqual({ [id]: null });
  commit('from_git: two\n');
  expect(await runner('git_pillar.update', 'repo=mine', 'branch=master')).toEqual({ [id]: true });
  expect(await call('pillar.items')).toMatchObject({ from_git: 'two' });
  expect(JSON.stringify(await runner('git_pillar.update', 'repo=other'))).toContain('not found in ext_pillar config');
});
