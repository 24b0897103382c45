// The life cycle of jobs with real daemons: a random but fixed sequence of kills, stops and restarts; every minion gets
// an outcome.
import { existsSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type CommandResult, Deployment } from '../support/deployment.ts';
import { eventually } from '../support/eventually.ts';
import { signalAll } from '../support/faults.ts';
import { Dice } from '../support/fuzz.ts';

const seed = Number(process.env['HALITE_SEED'] ?? 7);
/** A sample; more of them by hand, with other seeds. */
const events = Number(process.env['HALITE_LIFE_EVENTS'] ?? 10);
const ids = ['l1', 'l2', 'l3'];
let fleet: Deployment;

beforeAll(async () => {
  fleet = await Deployment.create({ masterConfig: 'timeout: 3' });
  await fleet.startMaster();
  for (const id of ids) fleet.startMinion(id);
  await fleet.answering(...ids);
});
afterAll(async () => {
  for (const id of ids) resume(id);
  await fleet?.destroy();
});

function resume(id: string): void {
  if (fleet.minion(id).running) signalAll(fleet.minion(id).pid, 'SIGCONT');
}

/** What a run leaves behind, one line for each. */
const runFile = (): string => fleet.path('runs');
const runsOf = (number: number, id: string): number =>
  existsSync(runFile())
    ? readFileSync(runFile(), 'utf8')
        .split('\n')
        .filter((line) => line === `${number} ${id}`).length
    : 0;

class Story {
  readonly asked: Promise<CommandResult>[] = [];
  readonly told: string[] = [];
  readonly #dice = new Dice(seed);

  /** Each is what an operator or an accident does; what it starts goes on while the next happens. */
  readonly #events: readonly (() => Promise<void> | void)[] = [
    () => this.#publish(false),
    () => this.#publish(false),
    () => this.#publish(true),
    () => this.#publish(true),
    () => this.#kill(this.#dice.pick(ids)),
    () => this.#stopForAWhile(this.#dice.pick(ids)),
    () => this.#start(this.#dice.pick(ids)),
    () => this.#restartMaster(),
  ];

  async happen(): Promise<void> {
    await this.#dice.pick(this.#events)();
  }

  #publish(durable: boolean): void {
    const number = this.asked.length;
    const seconds = this.#dice.pick([0, 1, 3]);
    this.told.push(`publish ${number}${durable ? ', durable' : ''}, ${seconds} s`);
    const command = `echo "${number} {{ grains.id }}" >> ${runFile()}; sleep ${seconds}; echo ${number}`;
    const args = ['-L', ids.join(','), 'cmd.run', command, 'template=jinja', '--static', '--out=json'];
    this.asked.push(fleet.run('salt', durable ? [...args, '--durable=1h'] : args, { timeoutMs: 120_000 }));
  }

  async #kill(id: string): Promise<void> {
    this.told.push(`kill -9 ${id}`);
    await fleet.minion(id).stop('SIGKILL');
  }

  #start(id: string): void {
    this.told.push(`start ${id}`);
    if (!fleet.minion(id).running) fleet.startMinion(id);
  }

  async #stopForAWhile(id: string): Promise<void> {
    if (!fleet.minion(id).running) return;
    this.told.push(`SIGSTOP ${id}`);
    signalAll(fleet.minion(id).pid, 'SIGSTOP');
    await fleet.salt('-L', ids.join(','), 'test.ping', '-t', '1');
    resume(id);
  }

  async #restartMaster(): Promise<void> {
    this.told.push('kill -9 master');
    await fleet.master.stop('SIGKILL');
    await fleet.startMaster();
  }
}
/** Minions without result, and among those the ones without a reason. */
const without = (what: string): string => `SELECT j.jid, e.value AS id FROM job j, json_each(j.expected) e
  WHERE j.internal = 0 AND NOT EXISTS (SELECT 1 FROM ret r WHERE r.jid = j.jid AND r.id = e.value) AND ${what}`;
const open = without("NOT EXISTS (SELECT 1 FROM verdict v WHERE v.jid = j.jid AND v.id = e.value AND v.reason <> '')");
const undelivered = without("j.load ->> '$.halite_durable' IS NOT NULL");

const runner = async (...args: string[]): Promise<unknown> =>
  JSON.parse((await fleet.run('salt-run', [...args, '--out=json'])).stdout) as unknown;

it(`gives every minion of every job an outcome (seed ${seed})`, { timeout: 240_000 }, async () => {
  const story = new Story();
  for (let n = 0; n < events; n++) await story.happen();
  for (const id of ids) if (!fleet.minion(id).running) fleet.startMinion(id);
  await fleet.answering(...ids);
  await Promise.all(story.asked);
  let left = '';
  const done = async (query: string): Promise<boolean> => {
    left = JSON.stringify(await runner('jobs.query', query));
    return left === '[]';
  };
  const describe = (): string => `${story.told.join('\n')}\nleft: ${left}`;
  const waiting = { timeoutMs: 120_000, describe };
  await eventually('every minion of every job to have a result or a reason', () => done(open), waiting);
  await eventually('every durable job to have its results', () => done(undelivered), waiting);
  expect(await runner('jobs.pending'), describe()).toEqual({});
  for (const number of story.asked.keys()) {
    for (const id of ids) expect(runsOf(number, id), `${number} ${id}\n${describe()}`).toBeLessThanOrEqual(1);
  }
});
