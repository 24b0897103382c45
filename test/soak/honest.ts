// What a fleet does all day, through the real commands: every answer is looked at.
import { readFileSync, writeFileSync } from 'node:fs';
import type { SimulatedFleet } from '../bench/simulated-fleet.ts';
import type { Deployment } from '../support/deployment.ts';

export const good = ['good1', 'good2'];
const list = good.join(',');

export function writeTrees(fleet: Deployment): void {
  writeFileSync(fleet.path('srv/salt/file.txt'), `${'a line of a file\n'.repeat(20_000)}`);
  writeFileSync(
    fleet.path('srv/salt/web.sls'),
    `{{ opts['cachedir'] }}/managed.txt:\n  file.managed:\n    - source: salt://file.txt\nnote:\n  test.succeed_without_changes: []\n`,
  );
  writeFileSync(fleet.path('srv/pillar/top.sls'), "base:\n  '*': [data]\n");
  writeFileSync(fleet.path('srv/pillar/data.sls'), 'motd: hello {{ grains["id"] }}\n');
}

export interface Honest {
  readonly fleet: Deployment;
  readonly simulated: SimulatedFleet;
  readonly simulatedCount: number;
}

function expectAll(
  answers: Record<string, unknown>,
  right: (value: unknown, id: string) => boolean,
  what: string,
): void {
  for (const id of good) {
    if (!right(answers[id], id))
      throw new Error(`${what}: ${id} answered ${JSON.stringify(answers[id])?.slice(0, 300)}`);
  }
}

const allStatesHold = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  Object.values(value).every((state: { result?: unknown }) => state.result === true);

/** In turn; each throws when somebody was not served. */
export const tasks: Readonly<Record<string, (honest: Honest, round: number) => Promise<void>>> = {
  ping: async ({ fleet }) => expectAll(await fleet.json('-L', list, 'test.ping'), (value) => value === true, 'ping'),
  'many minions': async ({ fleet, simulatedCount }) => {
    const answers = await fleet.json('sim-*', 'test.ping', '-t', '20');
    const served = Object.values(answers).filter((value) => value === true).length;
    if (served !== simulatedCount) throw new Error(`many minions: ${served} of ${simulatedCount} answered`);
  },
  state: async ({ fleet }) => expectAll(await fleet.json('-L', list, 'state.apply', 'web'), allStatesHold, 'state'),
  file: async ({ fleet }, round) => {
    const name = `file${round % 5}.txt`;
    writeFileSync(fleet.path('srv/salt', name), `round ${round}\n`.repeat(1000));
    const answers = await fleet.json('-L', list, 'cp.get_file_str', `salt://${name}`);
    const sent = readFileSync(fleet.path('srv/salt', name), 'utf8');
    expectAll(answers, (value) => value === sent, 'file');
  },
  pillar: async ({ fleet }) => {
    await fleet.salt('-L', list, 'saltutil.refresh_pillar');
    expectAll(await fleet.json('-L', list, 'pillar.get', 'motd'), (value, id) => value === `hello ${id}`, 'pillar');
  },
  mine: async ({ fleet }) => {
    await fleet.salt('-L', list, 'mine.send', 'test.ping');
    const found = (await fleet.json('good1', 'mine.get', 'good*', 'test.ping'))['good1'];
    if (JSON.stringify(found) !== JSON.stringify({ good1: true, good2: true }))
      throw new Error(`mine: ${JSON.stringify(found)}`);
  },
  event: async ({ fleet }, round) =>
    expectAll(await fleet.json('-L', list, 'event.send', `soak/round/${round}`), (value) => value === true, 'event'),
  'long result': async ({ fleet }) =>
    expectAll(
      await fleet.json('-L', list, 'cmd.run', 'head -c 200000 /dev/zero | tr "\\0" x'),
      (value) => String(value).length === 200_000,
      'long result',
    ),
  'new key': async ({ fleet, simulated }) => {
    // Deleting a key makes the master choose a new AES key; everybody signs in again.
    const spare = fleet.startMinion('spare');
    await fleet.answering('spare');
    await spare.stop();
    await fleet.run('salt-key', ['-y', '-d', 'spare']);
    await simulated.renew();
    await fleet.answering(...good);
  },
  'minion restarted': async ({ fleet }) => {
    await fleet.minion('good2').stop();
    fleet.startMinion('good2');
    await fleet.answering('good2');
  },
};
