// External authentication between Halite and real Salt: Salt's commands with our master, and tokens of each for the other.
// Salt's commands start jobs with --async and the master is asked for the result: what they hear on the bus of events is
// tested with other Python programs.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PlainDict } from '../../src/base/codec/value.ts';
import { type CommandResult, type Deployment, runProgram } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { saltRelease } from '../support/salt-release.ts';
import { as, askAs, publishAs, returned, startUsers } from '../support/users.ts';

let fleet: Deployment;
beforeAll(async () => {
  fleet = await startUsers();
});
afterAll(async () => {
  await fleet?.destroy();
});

type Job = { User: string; Function: string; Result: Record<string, { return: unknown }> };
const jobOf = async (jid: string): Promise<Job> =>
  JSON.parse((await fleet.run('salt-run', ['jobs.list_job', jid, '--out=json'])).stdout) as Job;

describe.each(['3006.27', '3008.2'] as const)('Salt %s', (version) => {
  /** Salt uses a token that it finds here, or for root the key of the master instead of a login. */
  const home = (): string => fleet.path(`home-${version}`);
  beforeAll(() => void mkdirSync(home()));
  const run = (command: string, args: readonly string[]): Promise<CommandResult> =>
    runProgram(join(saltRelease(version).bin, command), ['-c', fleet.masterConfigDir, ...args], {
      env: { HOME: home() },
    });
  const login = (password: string): string[] => ['-a', 'sharedsecret', '--username', 'fred', '--password', password];

  it('starts a job with a password', async () => {
    const { stdout, stderr } = await run('salt', ['--async', ...login('of all'), 'm1', 'test.ping']);
    const [, jid = ''] = /job ID: (\d+)/.exec(stdout) ?? [];
    expect(jid, stdout + stderr).not.toBe('');
    await eventually('the result', async () => (await jobOf(jid)).Result['m1']?.return === true);
    expect(await jobOf(jid)).toMatchObject({ User: 'fred', Function: 'test.ping' });
  });

  it.each([
    ['with another function', login('of all'), ['m1', 'cmd.run', 'id'], 'Authorization error occurred.'],
    ['with a wrong password', login('wrong'), ['m1', 'test.ping'], 'Authentication error occurred.'],
  ])('is refused %s', async (_, who, job, why) => {
    const { stdout, stderr } = await run('salt', ['--async', ...who, ...job]);
    expect(stdout + stderr).toContain(why);
    expect(stdout).not.toContain('job ID');
  });

  it('gets a token that both accept', async () => {
    const refused = await run('salt', ['--async', '-T', ...login('wrong'), 'm1', 'test.ping']);
    expect(refused.stdout).not.toContain('job ID');
    expect(existsSync(join(home(), 'salt_token'))).toBe(false);
    const made = await run('salt', ['--async', '-T', ...login('of all'), 'm1', 'test.ping']);
    expect(made.stdout).toContain('job ID');
    const token = readFileSync(join(home(), 'salt_token'), 'utf8').trim();
    expect(returned((await publishAs(fleet, { token }, {})).items)).toEqual({ m1: true });
  });

  /** Salt's own code for tokens, with our folder. */
  const python = async (code: string): Promise<string> => {
    const program = `
import json, salt.auth, salt.config
opts = salt.config.master_config(${JSON.stringify(fleet.path('etc/master'))})
${code}
`;
    const {
      stdout,
      stderr,
      code: status,
    } = await runProgram(join(saltRelease(version).bin, 'python'), ['-c', program]);
    expect(status, stderr).toBe(0);
    return stdout.trim().split('\n').at(-1) ?? '';
  };

  it('writes tokens that we read, and reads ours', async () => {
    const theirs = await python(`
login = {'eauth': 'sharedsecret', 'username': 'fred', 'password': 'of all'}
print(salt.auth.LoadAuth(opts).mk_token(login)['token'])
`);
    expect(theirs).toMatch(/^[0-9a-f]{64}$/);
    expect(returned((await publishAs(fleet, { token: theirs }, {})).items)).toEqual({ m1: true });
    const ours = (await askAs(fleet, 'login', as('fred'))).items[0] as PlainDict;
    const read = await python(`
print(json.dumps(salt.auth.LoadAuth(opts).get_tok(${JSON.stringify(ours['token'])})))
`);
    if (version === '3006.27')
      expect(JSON.parse(read)).toMatchObject({ name: 'fred', eauth: 'sharedsecret', token: ours['token'] });
  });
});
