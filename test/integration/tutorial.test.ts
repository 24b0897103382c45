// The tutorials, as a newcomer follows them: every file is written, every command run, and its output compared with the page.
// `…` on a page stands for anything.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Block, readBlocks } from '../../scripts/site/markdown/blocks.ts';
import { Deployment, halite, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';

const root = join(import.meta.dirname, '../..');
const made = '/tmp/halite-tutorial';
const ids = ['web1', 'web2', 'db1'];
let fleet: Deployment;

const start = (id: string): unknown => fleet.startMinion(id, undefined, `grains: {role: ${id.replace(/\d/, '')}}`);

// What `npm start` makes, in the folder of a test.
beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: "nodegroups: {webs: 'L@web1,web2'}" });
  await fleet.startMaster();
  ids.forEach(start);
  await fleet.answering(...ids);
});
afterAll(() => fleet.destroy());

/** Names of the page as they are here, and back. */
const here = (text: string): string =>
  text.replaceAll(made, fleet.path('made')).replaceAll('.halite/', `${fleet.root}/`).replaceAll('/minion.pid', '/pid');
const onPage = (text: string): string =>
  text.replaceAll(fleet.path('made'), made).replaceAll(`${fleet.root}/`, '.halite/');

interface Step {
  readonly command: string;
  readonly output: string;
}

/** `$ command` and the lines below it. */
const stepsOf = (text: string): Step[] =>
  text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n').trimEnd() };
    });

const lines = (text: string): string[] => text.split('\n').map((line) => line.trimEnd());
const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

/** Minions answer when they can: lines may have another order, and so may the parts between lines of `…`. */
function compare({ command, output }: Step, printed: string): void {
  const got = lines(printed.trimEnd());
  if (!output.includes('…')) {
    expect([command, got.sort()]).toEqual([command, lines(output).sort()]);
    return;
  }
  const text = `${got.join('\n')}\n`;
  for (const part of output.split(/^…$/m)) {
    const known = part.replace(/^\n|\n$/g, '');
    const pattern = lines(known).map((line) => `${escaped(line).replaceAll('…', '[^\\n]*')}\\n`);
    if (known !== '') expect(`$ ${command}\n${text}`).toMatch(new RegExp(`^${pattern.join('')}`, 'm'));
  }
}

async function follow(step: Step): Promise<void> {
  const env = { PATH: `${halite.bin}:${process.env['PATH'] ?? ''}`, SALT_CONFIG_DIR: fleet.masterConfigDir };
  const run = (command: string) => runProgram('bash', ['-c', `${command} 2>&1`], { env });
  const { stdout } = await run(here(step.command));
  expect(stdout).not.toContain('defect in Halite');
  compare(step, onPage(stdout));
  if (!step.command.startsWith('kill ')) return;
  // A reader is not as fast as the next line.
  const preview = `salt '*' test.ping --preview-target --explain`;
  await eventually('the master to notice it', async () => (await run(preview)).stdout.includes('1 away'));
}

function writeFile(text: string): boolean {
  const [, path] = /^# (\.halite\/\S+)\n/.exec(text) ?? [];
  if (path === undefined) return false;
  mkdirSync(dirname(here(path)), { recursive: true });
  writeFileSync(here(path), here(text));
  return true;
}

type Code = Extract<Block, { kind: 'code' }>;
const codeOf = (page: string): Code[] =>
  readBlocks(readFileSync(join(root, page), 'utf8')).filter((block): block is Code => block.kind === 'code');

describe.each(['docs/tutorial/newcomers.md', 'docs/tutorial/operators.md'])('%s', (page) => {
  beforeAll(async () => {
    if (!fleet.minion('db1').running) start('db1');
    await fleet.answering(...ids);
  });

  it('does what it says', async () => {
    let commands = 0;
    for (const { language, text } of codeOf(page)) {
      if (language === 'yaml') expect([text, writeFile(text)]).toEqual([text, true]);
      if (language !== 'console') continue;
      for (const step of stepsOf(text)) {
        await follow(step);
        commands++;
      }
    }
    expect(commands).toBeGreaterThan(10);
  });
});

it('the Chinese tutorial has the same commands', () => {
  expect(codeOf('docs/zh/tutorial/operators.md')).toEqual(codeOf('docs/tutorial/operators.md'));
});
