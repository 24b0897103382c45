// Jobs at all masters of a field while something breaks, and afterwards the account: what was acknowledged, lost, doubled.
import { existsSync, readFileSync } from 'node:fs';
import { newDict, type PlainDict, type Value } from '../../src/base/codec/value.ts';
import { connectLocal } from '../../src/engine/client/local.ts';
import type { Field } from './cluster-field.ts';
import { type Deployment, halite } from './deployment.ts';
import { eventually } from './eventually.ts';
import { historyOf } from './masters.ts';

export interface Asked {
  readonly jid: string;
  readonly answers: ReadonlyMap<string, Value>;
  readonly missing: ReadonlyMap<string, string>;
  /** Results that were given twice. */
  readonly doubled: number;
  /** Whether the master said that this is all. */
  readonly ended: boolean;
}

export interface AskOptions {
  readonly arg?: readonly Value[];
  readonly seconds?: number;
  readonly limitMs?: number;
}

/** A job as a command gives it, with all that its master says; a master that says nothing more is left alone. */
export async function ask(
  master: Deployment,
  tgt: string | readonly string[],
  fun: string,
  options: AskOptions = {},
): Promise<Asked> {
  const [answers, missing] = [new Map<string, Value>(), new Map<string, string>()];
  let [jid, doubled, ended] = ['', 0, false];
  const socket = { sock_dir: master.path('run/master'), cachedir: master.path('cache/master') };
  const client = await connectLocal(socket).catch(() => undefined);
  if (!client) return { jid, answers, missing, doubled, ended };
  const limit = setTimeout(() => client.close(), options.limitMs ?? 30_000);
  try {
    const call = { tgt, tgt_type: typeof tgt === 'string' ? 'glob' : 'list', fun, arg: options.arg ?? [], ret: '' };
    const job = { ...call, options: newDict(), timeoutSeconds: options.seconds ?? 5 };
    for await (const item of client.publish({ job } as Parameters<typeof client.publish>[0])) {
      if (item.type === 'job') jid = item.jid;
      else if (item.type === 'return') {
        if (answers.has(item.id)) doubled += 1;
        answers.set(item.id, item.ret);
      } else if (item.type === 'missing') missing.set(item.id, item.reason.code);
      else if (item.type === 'end') ended = true;
    }
  } catch {
    // The master went away, or did not answer: what it said until then counts.
  } finally {
    clearTimeout(limit);
    client.close();
  }
  return { jid, answers, missing, doubled, ended };
}

export interface Account {
  readonly sent: number;
  readonly acknowledged: number;
  readonly lost: readonly string[];
  readonly doubled: readonly string[];
  /** Minions of jobs without result or verdict, or stores that differ. */
  readonly open: readonly string[];
}

const kwargs = (fields: PlainDict): PlainDict => newDict([['__kwarg__', true], ...Object.entries(fields)]);
const pauseMs = 300;
const mostExplained = 10;

export class Load {
  readonly #field: Field;
  /** Everything before is of an earlier row. */
  readonly #from = new Date(Date.now() - 1000).toISOString().replace(/\D/g, '').padEnd(20, '0');
  readonly #asked: Asked[] = [];
  readonly #tokens: string[] = [];
  readonly #loops: Promise<void>[] = [];
  #goesOn = true;

  constructor(field: Field, at: readonly Deployment[] = field.masters) {
    this.#field = field;
    for (const master of at) this.#loops.push(this.#loop(master));
  }

  get jobs(): number {
    return this.#asked.filter(({ jid }) => jid !== '').length;
  }

  async #loop(master: Deployment): Promise<void> {
    const { minions = {} } = this.#field.plan;
    const real = this.#field.minionIds;
    // A job costs a real Salt minion a process, and half a second of a processor: it has few of them.
    const light = this.everyone.filter((id) => (minions[id] ?? halite).bin === halite.bin);
    const own = real.filter((id) => light.includes(id));
    for (let n = 0; this.#goesOn; n++) {
      if (!master.master.running) {
        await new Promise((resolve) => setTimeout(resolve, pauseMs));
      } else if (real.length > 0 && n % 3 === 2) {
        const token = `${this.#field.masters.indexOf(master)}-${n}-${this.#from}`;
        this.#tokens.push(token);
        const file = this.#field.masters[0]!.path('ran-{{ grains.id }}');
        const arg = [`echo ${token} >> ${file}`, kwargs({ template: 'jinja', python_shell: true })];
        this.#asked.push(await ask(master, n % 15 === 2 ? real : own, 'cmd.run', { arg }));
      } else this.#asked.push(await ask(master, light, 'test.ping'));
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  }

  async stop(): Promise<void> {
    this.#goesOn = false;
    await Promise.all(this.#loops);
  }

  /** Ids that every job has, simulated ones included. */
  get everyone(): string[] {
    const { simulated = 0, minions = {} } = this.#field.plan;
    const sims = this.#field.fleets.flatMap(({ id }) =>
      Array.from({ length: simulated }, (_, at) => `${id}-${String(at).padStart(4, '0')}`),
    );
    return [...Object.keys(minions), ...sims];
  }

  /** How long until every running master gets the answers of all minions, or of those named, in seconds since `began`. */
  async normal(began: number, everyone: readonly string[] = this.everyone, timeoutMs = 100_000): Promise<number> {
    let seen = '';
    const complete = async (master: Deployment): Promise<boolean> => {
      const { answers, missing } = await ask(master, '*', 'test.ping', { seconds: 15, limitMs: 45_000 });
      const silent = everyone.filter((id) => !answers.has(id));
      if (silent.length > 0)
        seen += `\n${master.path('')}: ${silent.slice(0, 5).map((id) => `${id} ${missing.get(id) ?? ''}`)} (${silent.length})`;
      return silent.length === 0;
    };
    await eventually(
      'all minions to answer every master',
      async () => (await Promise.all(this.#field.running.map(complete))).every(Boolean),
      { timeoutMs, describe: () => `${seen.slice(-1500)}\n${this.#field.logs()}` },
    );
    return (performance.now() - began) / 1000;
  }

  /** Ends the load, waits until all stores are equal, and compares with what minions and commands were told. */
  async account(timeoutMs = 100_000): Promise<Account> {
    await this.stop();
    let found: Omit<Account, 'lost' | 'doubled'> & { lost: string[]; doubled: string[] };
    const settled = async (): Promise<boolean> => {
      found = await this.#look();
      return found.open.length === 0 && found.lost.length === 0;
    };
    try {
      await eventually('the stores to be equal, and every balance to close', settled, { timeoutMs });
    } catch {
      // What it found is the account.
    }
    return found!;
  }

  async #look(): Promise<Omit<Account, 'lost' | 'doubled'> & { lost: string[]; doubled: string[] }> {
    const { masters, fleets, minionIds } = this.#field;
    const told = await Promise.all(fleets.map((fleet) => fleet.tell('list')));
    const acknowledged = told.flatMap((one) => one['acknowledged'] as string[]).filter((key) => key >= this.#from);
    const answered = this.#asked.flatMap(({ jid, answers }) =>
      jid === '' ? [] : [...answers.keys()].map((id) => `${jid} ${id}`),
    );
    const stores = await Promise.all(masters.map((master) => this.#rows(master)));
    const open: string[] = [];
    const [first] = stores;
    for (const [at, { rows, unfinished }] of stores.entries()) {
      for (const key of unfinished) open.push(`m${at + 1}: no result or verdict of ${key}`);
      for (const [key, row] of rows)
        if (first!.rows.get(key) !== row) open.push(`m${at + 1}: ${key} is ${row}, on m1 ${first!.rows.get(key)}`);
      if (rows.size !== first!.rows.size) open.push(`m${at + 1} has ${rows.size} results, m1 ${first!.rows.size}`);
    }
    const known = first!.rows;
    const promised = new Set([...acknowledged, ...answered]);
    const doubled = this.#asked.filter((one) => one.doubled > 0).map(({ jid }) => `${jid} was answered twice`);
    for (const id of minionIds) {
      const file = masters[0]!.path(`ran-${id}`);
      const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
      for (const [at, line] of lines.entries())
        if (this.#tokens.includes(line) && lines.indexOf(line) !== at) doubled.push(`${id} ran ${line} twice`);
    }
    const lost = [...promised].filter((key) => !known.has(key));
    return {
      sent: told.reduce((sum, one) => sum + Number(one['sent']), 0),
      acknowledged: promised.size,
      lost: await Promise.all(lost.map((key, at) => (at < mostExplained ? this.#explain(key) : key))),
      ...{ doubled, open },
    };
  }

  /** A lost result with what the masters know about its job. */
  async #explain(key: string): Promise<string> {
    const [jid = '', id = ''] = key.split(' ');
    const { masters } = this.#field;
    const jobs = await Promise.all(
      masters.map((master) =>
        historyOf(master, `SELECT fun, tgt, owner, internal, expected FROM job WHERE jid = '${jid}'`),
      ),
    );
    const told = jobs.map(([job], at) => {
      if (!job) return `m${at + 1} has no record of it`;
      const asked = (JSON.parse(String(job['expected'])) as string[]).includes(id) ? 'expected' : 'not expected';
      return `m${at + 1}: ${job['fun']} for ${job['tgt']} of slot ${job['owner']}, ${asked}, internal ${job['internal']}`;
    });
    const logged = masters.flatMap(({ master }) =>
      master
        .output()
        .split('\n')
        .filter((line) => line.includes(jid)),
    );
    return [key, ...told, ...logged.slice(-10)].join('; ');
  }

  async #rows(master: Deployment): Promise<{ rows: Map<string, string>; unfinished: string[] }> {
    const since = `'${this.#from}'`;
    const rets = await historyOf(master, `SELECT jid, id, place, digest FROM ret WHERE jid >= ${since}`);
    const unfinished = await historyOf(
      master,
      `SELECT j.jid AS jid, e.value AS id FROM job j, json_each(j.expected) e WHERE j.jid >= ${since} AND j.internal = 0
       AND NOT EXISTS (SELECT 1 FROM ret r WHERE r.jid = j.jid AND r.id = e.value)
       AND NOT EXISTS (SELECT 1 FROM verdict v WHERE v.jid = j.jid AND v.id = e.value AND v.reason <> '')`,
    );
    const rows = rets.map(
      (row) => [`${row['jid']} ${row['id']}`, `${row['place'] === -1 ? 'not in the ledger' : row['digest']}`] as const,
    );
    return { rows: new Map(rows), unfinished: unfinished.map((row) => `${row['jid']} ${row['id']}`) };
  }
}
