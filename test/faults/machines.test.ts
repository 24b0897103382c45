// Faults of the table that need a machine prepared for them: a clock that goes wrong, a full disk, two minions with one id,
// decisions about a key on both sides of a cut, a new AES key while something else breaks.
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { faults, membersAt, runner, seen } from '../support/cluster-faults.ts';
import { Field } from '../support/cluster-field.ts';
import { ask, Load } from '../support/cluster-load.ts';
import { halite } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { addRow, printTable, underLoad } from '../support/fault-table.ts';
import { whyNoNamespaces } from '../support/namespaces.ts';
import { isMissing } from '../support/prepared.ts';
import { picker } from '../support/seeded.ts';
import { natsPrograms } from '../support/servers/nats.ts';

const missing = natsPrograms().length === 0 ? 'there is no nats-server' : whyNoNamespaces();
/** Its folder has the name of the architecture. */
const otherClock = readdirSync('/usr/lib')
  .map((folder) => `/usr/lib/${folder}/faketime/libfaketimeMT.so.1`)
  .find((file) => existsSync(file));
const hasClock = (otherClock ?? isMissing('package faketime')) !== undefined;
const now = (): number => performance.now();
const fault = (row: number): (typeof faults)[number] => faults.find((each) => each.row === row)!;

describe.skipIf(missing !== undefined)('faults of machines', () => {
  let field: Field;
  const undo: (() => void)[] = [];
  const clock = (): string => field.master('m3').path('clock');
  const disk = (): string => field.master('m3').path('cache/master');

  beforeAll(async () => {
    field = await Field.start({
      ...{ minions: { h1: halite, h2: halite, far: halite }, simulated: 5 },
      masterConfig: 'keep_jobs_seconds: 3600',
      before: (id, folder) =>
        id === 'm3' && hasClock
          ? [
              ...['env', `LD_PRELOAD=${otherClock}`, `FAKETIME_TIMESTAMP_FILE=${folder}/clock`],
              ...['FAKETIME_CACHE_DURATION=1', 'FAKETIME_DONT_FAKE_MONOTONIC=1'],
            ]
          : [],
      prepare: (master, id) => {
        if (id !== 'm3') return;
        writeFileSync(master.path('clock'), '+0s\n');
        const folder = master.path('cache/master');
        mkdirSync(folder, { recursive: true });
        if (spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=40m', 'tmpfs', folder]).status === 0)
          undo.push(() => spawnSync('umount', ['-l', folder]));
      },
    });
  });
  afterEach(() => field?.network.healAll());
  afterAll(async () => {
    printTable();
    for (const { master } of field?.masters ?? []) await master.stop();
    for (const step of undo.splice(0)) step();
    await field?.destroy();
  });

  const loaded = async (): Promise<Load> => {
    const load = new Load(field);
    await load.normal(now());
    return load;
  };

  it('row 13: opposite decisions about a key on both sides of a cut: the stricter one counts', async () => {
    const [m1, m2] = [field.master('m1'), field.master('m2')];
    const key = async (master: typeof m1, ...args: string[]): Promise<string> =>
      (await master.run('salt-key', [...args, '-y'])).stdout;
    const stateOf = async (master: typeof m1): Promise<string> => {
      const found = JSON.parse((await master.run('salt-key', ['-L', '--out=json'])).stdout) as Record<string, string[]>;
      return Object.keys(found).find((state) => found[state]?.includes('extra')) ?? 'gone';
    };
    // As an operator does by hand.
    cpSync(m1.path('etc/pki/master/minions/h1'), m1.path('etc/pki/master/minions_pre/extra'));
    await eventually('all to have the key', async () => (await stateOf(m2)) === 'minions_pre');
    const load = await loaded();
    await underLoad(13, 'split, with opposite decisions about a key', load, async () => {
      const [here, there] = [
        ['m1', 'n1'],
        ['m2', 'm3', 'n2', 'n3'],
      ] as const;
      for (const one of here) for (const far of there) field.network.cut(one, far);
      await seen('it to be cut off', m1, 'm1', 'cut off');
      await key(m1, '-a', 'extra');
      await key(m2, '-d', 'extra');
      expect(await stateOf(m1)).toBe('minions');
      expect(await stateOf(m2)).toBe('gone');
      field.network.healAll();
      return now();
    });
    for (const master of field.masters)
      await eventually('the key to be gone', async () => (await stateOf(master)) === 'gone');
  });

  it.skipIf(!hasClock)(
    'row 16: the clock of a master jumps ahead, back and home',
    async () => {
      for (const [shift, side] of [
        ['+10m', 'ahead'],
        ['-10m', 'behind'],
        ['+0s', ''],
      ] as const) {
        const load = await loaded();
        await underLoad(16, `the clock of a master jumps: ${shift}`, load, async () => {
          writeFileSync(clock(), `${shift}\n`);
          const problems = async (): Promise<string> =>
            (await runner<string[]>(field.master('m1'), 'cluster.problems')).join('\n');
          const told = async (): Promise<boolean> =>
            side === '' ? !(await problems()).includes('clock') : (await problems()).includes(side);
          await eventually('the clock to be named', told, { timeoutMs: 120_000, describe: () => field.logs() });
          const seconds = load.jobs;
          await eventually('jobs', () => load.jobs > seconds + 6);
          return now();
        });
        const members = await membersAt(field.master('m1'));
        expect(Object.values(members).map(({ state }) => state)).toEqual(['joined', 'joined', 'joined']);
      }
    },
    600_000,
  );

  it('row 17: the disk of a master is full', async () => {
    const load = await loaded();
    await underLoad(17, 'the disk of a master is full', load, async () => {
      const filler = `${disk()}/filler`;
      // More than fits: what is written until then stays.
      spawnSync('dd', ['if=/dev/zero', `of=${filler}`, 'bs=16k', 'count=4000'], { stdio: 'ignore' });
      const said = (): boolean =>
        /could not be stored|cannot be stored|full|ENOSPC/.test(field.master('m3').master.output());
      await eventually('the master to say it', said, { timeoutMs: 120_000, describe: () => field.logs() });
      // The others work on, with all minions that know them.
      const { answers } = await ask(field.master('m1'), ['h1', 'h2', 'far'], 'test.ping', { seconds: 20 });
      expect([...answers.keys()].sort()).toEqual(['far', 'h1', 'h2']);
      expect(field.master('m3').master.running).toBe(true);
      rmSync(filler);
      return now();
    });
  });

  it('row 19: two machines with one id, each connected to all masters', async () => {
    const [m1, m2] = [field.master('m1'), field.master('m2')];
    field.startMinion('counterpart', halite, 'far');
    await m1.answering('counterpart');
    mkdirSync(m2.path('counterpart'), { recursive: true });
    cpSync(m1.path('counterpart/pki'), m2.path('counterpart/pki'), { recursive: true });
    const load = await loaded();
    const account = await underLoad(19, 'two machines with one id', load, async () => {
      field.startMinion('counterpart', halite, 'h2', m2);
      const named = async (): Promise<boolean> => {
        const { duplicate_id } = await runner<{ duplicate_id?: string }>(m1, 'manage.explain', 'counterpart');
        return ['far', 'h2'].every((machine) => duplicate_id?.includes(field.network.address(machine)));
      };
      await eventually('both to be named', named, { timeoutMs: 120_000, describe: () => field.logs() });
      await m1.minion('counterpart').stop();
      await m2.minion('counterpart').stop();
      return now();
    });
    expect(account.acknowledged).toBeGreaterThan(0);
  });

  it('row 22: the AES key changes while a master is killed, a server is killed, a master is cut off', async () => {
    for (const row of [1, 5, 8]) {
      const { name, run } = fault(row);
      const load = await loaded();
      let [isOver, rotated] = [false, 0];
      const rotating = (async (): Promise<void> => {
        for (let at = 0; !isOver; at++) {
          const { code } = await field.master(`m${(at % 3) + 1}`).run('salt-run', ['cluster.rotate_aes']);
          if (code === 0) rotated += 1;
        }
      })();
      const healed = await run(field, picker(row)).finally(() => {
        isOver = true;
      });
      await rotating;
      const seconds = await load.normal(healed);
      addRow(22, `${rotated} new AES keys while: ${name}`, seconds, await load.account());
      expect(rotated).toBeGreaterThan(0);
    }
  }, 600_000);
});
