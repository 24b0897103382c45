// How functions of users fail: the texts that a minion of Salt 3006.27 sent for the same files (test/fixtures/python-errors), and
// reasons where it sent nothing.
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Deployment, halite, runProgram } from '../support/deployment.ts';

interface Recorded {
  readonly call: readonly string[];
  readonly answer: unknown;
}
const fixtures = fileURLToPath(new URL('../fixtures/python-errors', import.meta.url));
const recorded = JSON.parse(readFileSync(`${fixtures}/salt-3006.27.json`, 'utf8')) as Record<string, Recorded>;
/** Where ours says more than Salt. */
const better: Readonly<Record<string, RegExp>> = {
  // Salt blames the arguments for every TypeError.
  'TypeError inside': /^The minion function caused an exception: .*wrong\.py", line 25, in typed\n.*no len\(\)\n$/s,
  'sys.exit(3)': /wrong\.py ended its Python process with status 3 while wrong\.leave ran$/,
  'segmentation fault': /wrong\.py was ended by signal 11 \(SIGSEGV\) while wrong\.segfault ran$/,
};

/** Without the marks below a line, which newer releases of Python print, and without frames of Salt itself. */
const bare = (answer: unknown): unknown =>
  typeof answer === 'string' ? answer.replace(/^ *[~^]+\n/gm, '').replace(/^ {2}File "SALT\/.*\n.*\n/gm, '') : answer;

let fleet: Deployment;
beforeAll(async () => {
  fleet = await Deployment.create();
  await fleet.startMaster();
  fleet.startMinion('m1', halite, `module_dirs: [${fixtures}/modules]`);
  await fleet.answering('m1');
});
afterAll(() => fleet?.destroy());

it.each(Object.entries(recorded).filter(([name]) => name !== 'endless import'))(
  '%s',
  async (name, { call, answer }) => {
    const { stdout, stderr } = await fleet.salt('m1', ...call, '--out=json', '--static', '-t', '60');
    const ours = (JSON.parse(stdout.replaceAll(fixtures, 'HERE')) as Record<string, unknown>)['m1'];
    const text = better[name];
    if (text) expect(ours, stderr).toMatch(text);
    else expect(bare(ours), stderr).toEqual(bare(answer));
  },
);

it('endless import', async () => {
  expect(recorded['endless import']?.answer).toMatch(/^no answer/);

  const config = fleet.configureMinion(
    'alone',
    `file_client: local\nmodule_dirs: [${fixtures}/endless]\npython_load_timeout: 1`,
  );
  const { stdout, stderr } = await runProgram(`${halite.bin}/salt-call`, ['-c', config, '--local', 'endless.f']);
  expect(stdout + stderr).toMatch(/endless\.py .*took longer than 1 s and was ended/);
});
