// Real Salt syndics below a Halite master, and Halite's syndic below real masters of masters.
import { describe, expect, it } from 'vitest';
import { Deployment, halite, type Implementation } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { type SaltVersion, saltRelease, saltVersions } from '../support/salt-release.ts';

const oldest: SaltVersion = '3006.27';
const middle: SaltVersion = '3007.14';
const newest: SaltVersion = '3008.2';
const versions = process.env['HALITE_ALL_PAIRINGS'] === '1' ? saltVersions : ([oldest, newest] as const);

const answersOf = async (top: Deployment, ...args: string[]): Promise<Record<string, unknown>> =>
  top.json(...args, '-t', '20').catch(() => ({}));

describe('Halite above', () => {
  it('real masters with real syndics, and a Halite master with a real syndic', async () => {
    const top = await Deployment.create({ masterConfig: 'order_masters: True\nmaster_id: top\nsyndic_wait: 10' });
    const lower: { name: string; fleet: Deployment; syndic: Implementation }[] = [];
    const add = async (name: string, master: Implementation, syndic: Implementation, more = ''): Promise<void> => {
      lower.push({ name, syndic, fleet: await Deployment.create({ master, masterConfig: more }) });
    };
    try {
      for (const version of versions)
        await add(`s${version.replace('.', '-')}`, saltRelease(version), saltRelease(version));
      await add('ours', halite, saltRelease(middle), 'event_socket_framing: stream');
      await Promise.all([top.startMaster(), ...lower.map(({ fleet }) => fleet.startMaster())]);
      top.startMinion('top1');
      for (const { name, fleet } of lower) fleet.startMinion(`${name}-m`);
      await Promise.all(lower.map(({ name, fleet }) => fleet.answering(`${name}-m`)));
      await Promise.all(lower.map(({ name, fleet, syndic }) => fleet.startSyndic(`${name}-syndic`, [top], syndic)));
      const below = lower.map(({ name }) => `${name}-m`);
      const all = [...below, 'top1'].sort();
      let found = '';
      await eventually(
        'everybody to answer',
        async () => {
          found = JSON.stringify(Object.keys(await answersOf(top, '*', 'test.ping')).sort());
          return found === JSON.stringify(all);
        },
        {
          timeoutMs: 120_000,
          describe: () =>
            [
              found,
              top.master.output(),
              ...lower.flatMap(({ fleet }) => [fleet.master.output(), fleet.syndic.output()]),
            ]
              .map((text) => text.slice(-2000))
              .join('\n---\n'),
        },
      );
      const [first = ''] = below;
      expect(await answersOf(top, first, 'test.echo', 'one')).toEqual({ [first]: 'one' });
      expect(await answersOf(top, '-L', [...below, 'top1'].join(','), 'test.ping')).toEqual(
        Object.fromEntries(all.map((id) => [id, true])),
      );
      expect(Object.keys(await answersOf(top, '-G', `id:${first}`, 'test.ping'))).toEqual([first]);
      expect(Object.keys(await answersOf(top, '-C', `s* and not ${first}`, 'test.ping'))).toEqual(
        below.filter((id) => id !== first && id.startsWith('s')),
      );
      const state = await top.salt(first, 'state.single', 'test.nop', 'x');
      expect(state.stdout).toContain('Succeeded: 1');
      const batch = await top.salt('-b', '1', '*-m', 'test.ping');
      for (const id of below) expect(batch.stdout).toMatch(new RegExp(`${id}:\\s+True`));
    } finally {
      for (const { fleet } of lower) await fleet.destroy();
      await top.destroy();
    }
  });
});

/** What each master of masters is asked; the answers of a real one and of ours are the same. */
const questions: readonly (readonly string[])[] = [
  ['-L', 'low2,low1', 'grains.item', 'id', 'nodename'],
  ['low1', 'cmd.run', 'echo x; exit 3'],
  ...(process.env['HALITE_ALL_PAIRINGS'] === '1'
    ? [
        ['*', 'test.ping'],
        ['-C', 'low* and not low1', 'cmd.retcode', 'exit 3'],
        ['low*', 'no.such'],
      ]
    : []),
];

/** Every line of every minion, in the order of their names, and the exit code. */
async function answer(top: Deployment, args: readonly string[]): Promise<unknown> {
  const { stdout, code } = await top.salt(...args, '-t', '20', '--out=json', '--out-indent=-1');
  return [stdout.trim().split('\n').sort(), code];
}

describe('Halite below', () => {
  it('two real masters of masters and one of ours, which see the same; one of them is away for a while', async () => {
    const tops = await Promise.all(
      [...versions, undefined].map(async (version) => {
        const masterConfig = `order_masters: True\nmaster_id: top-${version ?? 'ours'}\nsyndic_wait: 5`;
        const master = version === undefined ? halite : saltRelease(version);
        return Deployment.create({ master, masterConfig });
      }),
    );
    const low = await Deployment.create({ masterConfig: 'master_id: low' });
    try {
      // A syndic trusts one key: masters of masters have the same.
      const [first, ...others] = tops as [Deployment, ...Deployment[]];
      await first.startMaster();
      const { cpSync } = await import('node:fs');
      for (const other of others) cpSync(first.path('etc/pki'), other.path('etc/pki'), { recursive: true });
      await Promise.all([...others.map((other) => other.startMaster()), low.startMaster()]);
      for (const id of ['low1', 'low2']) low.startMinion(id);
      await low.answering('low1', 'low2');
      await low.startSyndic('synd', tops);
      for (const top of tops) {
        await eventually(
          'both minions to answer',
          async () => {
            const found = await answersOf(top, '*', 'test.ping');
            return found['low1'] === true && found['low2'] === true;
          },
          { timeoutMs: 120_000, describe: () => low.syndic.output().slice(-3000) },
        );
        expect(await answersOf(top, 'low1', 'test.echo', 'x')).toMatchObject({ low1: 'x' });
      }
      const answers = await Promise.all(
        questions.map(async (args) => ({ args, found: await Promise.all(tops.map((top) => answer(top, args))) })),
      );
      for (const { args, found } of answers)
        for (const theirs of found.slice(0, -1)) expect(found.at(-1), args.join(' ')).toEqual(theirs);
      // Stopped while a job runs: its result arrives when it is back.
      const { stdout } = await first.salt(
        '--async',
        'low1',
        'cmd.run',
        `while [ ! -e ${low.path('go')} ]; do sleep 0.1; done; echo done`,
      );
      const jid = /ID: (\d{20})/.exec(stdout)?.[1] ?? '';
      await eventually('the job to run', async () =>
        JSON.stringify(await low.json('low1', 'saltutil.find_job', jid)).includes(jid),
      );
      await first.master.stop('SIGKILL');
      await low.json('low1', 'file.touch', low.path('go'));
      await eventually(
        'the job to end',
        async () => JSON.stringify(await low.json('low1', 'saltutil.find_job', jid)) === '{"low1":{}}',
      );
      await first.startMaster();
      await eventually(
        'the result above',
        async () => (await first.run('salt-run', ['jobs.lookup_jid', jid])).stdout.includes('done'),
        { timeoutMs: 120_000, describe: () => low.syndic.output().slice(-3000) },
      );
    } finally {
      await low.destroy();
      await Promise.all(tops.map((top) => top.destroy()));
    }
  });
});
