// Upgrades group after group: canaries first, each minion verified, and no further group after too many failures.
import { setTimeout as sleep } from 'node:timers/promises';
import { dictGet, isDict, type MasterContext, newDict, type PlainDict, type Value } from 'halite/sdk';
import { agentScript, confirmCommand, refuseCommand, startCommand, stateCommand } from './agent.ts';
import { type MinionRecord, nameOf, type Standing, save, type UpgradeRecord } from './record.ts';

const askSeconds = 10;
const pauseMs = 1000;
/** In which minions come back to a master that was started again. */
const reconnectMs = 60_000;
/** What a minion answers is kept in the record. */
const longestVersion = 200;

interface Answer {
  readonly ret: Value;
  readonly success: boolean;
  readonly retcode: number;
}
type Answers = Readonly<Record<string, Answer>>;

const hasVersion = (answer: Answer | undefined, version: string): boolean =>
  answer?.success === true && String(answer.ret).includes(version);
const bad: readonly Standing[] = ['returned', 'failed', 'lost'];
export const failedIn = ({ minions }: UpgradeRecord): string[] =>
  Object.keys(minions).filter((id) => bad.includes(minions[id]!.standing));

export class Upgrade {
  readonly #ctx: MasterContext;
  readonly #record: UpgradeRecord;
  /** How long minions may be silent before they count as offline. */
  #patienceMs: number;

  constructor(ctx: MasterContext, record: UpgradeRecord, resumed: boolean) {
    this.#ctx = ctx;
    this.#record = record;
    this.#patienceMs = resumed ? reconnectMs : 0;
    // However long the master was away: they have to find it first.
    for (const minion of Object.values(record.minions))
      if (resumed && minion.standing === 'started') minion.at = Date.now();
  }

  /** Does what is left of it. */
  async run(): Promise<void> {
    const record = this.#record;
    for (const [number, group] of record.groups.entries()) {
      await this.#begin(group.filter((id) => record.minions[id]?.standing === 'waiting'));
      await this.#finish(group.filter((id) => record.minions[id]?.standing === 'started'));
      const failed = failedIn(record);
      // The canaries are there to find it out: one of them is enough.
      if (failed.length > (number === 0 ? 0 : record.mostFailed)) {
        record.result = 'stopped';
        save(this.#ctx, record);
        return;
      }
    }
    record.result = 'done';
    save(this.#ctx, record);
  }

  async #ask(ids: readonly string[], fun: string, arg: readonly Value[], kwargs?: PlainDict): Promise<Answers> {
    if (ids.length === 0) return {};
    const job = { tgt: ids, tgt_type: 'list', fun, arg, timeoutSeconds: askSeconds, ...(kwargs ? { kwargs } : {}) };
    return (await this.#ctx.master.runJob(job)).returns;
  }

  #note(id: string, standing: Standing, why = ''): void {
    const minion = this.#record.minions[id] as MinionRecord;
    Object.assign(minion, { standing, why });
    save(this.#ctx, this.#record);
    const version = standing === 'upgraded' ? `: ${minion.from} -> ${this.#record.version}` : '';
    const left = Object.values(this.#record.minions).filter((each) => each.standing === 'waiting').length;
    this.#ctx.progress(`${id}  ${standing}${version}${why === '' ? '' : `: ${why}`}  (${left} waiting)`);
  }

  /** After a restart of the master the first ones are asked until they are connected again. */
  async #answers(ids: readonly string[], fun: string): Promise<Answers> {
    const answers: Record<string, Answer> = { ...(await this.#ask(ids, fun, [])) };
    const until = performance.now() + this.#patienceMs;
    if (ids.length > 0) this.#patienceMs = 0;
    for (;;) {
      const silent = ids.filter((id) => !answers[id]?.success);
      if (silent.length === 0 || performance.now() > until) return answers;
      await sleep(pauseMs, undefined, { signal: this.#ctx.signal });
      Object.assign(answers, await this.#ask(silent, fun, []));
    }
  }

  /** Brings package and script to those that answer, and starts the script. */
  async #begin(ids: readonly string[]): Promise<void> {
    const { ask, version, steps, source, oldSource, id: upgrade, minions } = this.#record;
    const versions = await this.#answers(ids, ask);
    for (const id of ids) {
      if (!versions[id]?.success) this.#note(id, 'offline', 'it did not answer');
      else minions[id]!.from = String(versions[id].ret).slice(0, longestVersion);
      if (hasVersion(versions[id], version)) this.#note(id, 'already');
    }
    let ready = ids.filter((id) => minions[id]?.standing === 'waiting');
    const caches = await this.#ask(ready, 'config.get', ['cachedir']);
    const script = agentScript(steps);
    for (const id of ready) {
      const cache = caches[id]?.ret;
      if (typeof cache === 'string' && cache.startsWith('/')) minions[id]!.folder = `${cache}/upgrade-${upgrade}`;
      else this.#note(id, 'failed', 'it did not say where its cachedir is');
    }
    ready = ready.filter((id) => minions[id]?.standing === 'waiting');
    await Promise.all(
      this.#byFolder(ready).map(async ([folder, all]) => {
        await this.#ask(all, 'file.makedirs', [`${folder}/x`], newDict([['mode', '0700']]));
        let some = all;
        for (const [files, place] of [
          [source, 'package'],
          [oldSource, 'old-package'],
        ] as const) {
          if (files.length > 1) await this.#ask(some, 'file.makedirs', [`${folder}/${place}/x`]);
          for (const from of files) {
            const to = `${folder}/${place}${files.length > 1 ? `/${nameOf(from)}` : ''}`;
            const got = await this.#ask(some, 'cp.get_file', [from, to]);
            for (const id of some) if (got[id]?.ret !== to) this.#note(id, 'failed', `it could not fetch ${from}`);
            some = some.filter((id) => minions[id]?.standing === 'waiting');
          }
        }
        // Before it is started: after a crash it is asked, and starting twice does nothing.
        for (const id of some) {
          minions[id]!.at = Date.now();
          this.#note(id, 'started');
        }
        await this.#shell(some, (where) => startCommand(where, script));
      }),
    );
  }

  /** Most minions have the same folder: one job for all of them, however many they are. */
  #byFolder(ids: readonly string[]): [folder: string, ids: string[]][] {
    const found = new Map<string, string[]>();
    for (const id of ids) {
      const { folder } = this.#record.minions[id]!;
      found.set(folder, [...(found.get(folder) ?? []), id]);
    }
    return [...found];
  }

  /** Runs a command for the shell on each of them. */
  async #shell(ids: readonly string[], command: (folder: string) => string): Promise<Answers> {
    const shell = newDict([['python_shell', true]]);
    const jobs = this.#byFolder(ids).map(([folder, some]) => this.#ask(some, 'cmd.run', [command(folder)], shell));
    return Object.assign({}, ...(await Promise.all(jobs))) as Answers;
  }

  /** Until each of them has a verdict; also of those that were started before the master was. */
  async #finish(ids: readonly string[]): Promise<void> {
    const { steps, ask, version, minions } = this.#record;
    // A silent one: the way there and the way back. One that answers may still be at work: each command has `wait` to end.
    const patience = { silent: steps.wait * 2000 + 30_000, answers: steps.wait * 5000 + 30_000 };
    const sick = new Set<string>();
    let left = [...ids];
    while (left.length > 0) {
      const versions = await this.#ask(left, ask, []);
      const fresh = left.filter((id) => hasVersion(versions[id], version) && !sick.has(id));
      const problems = await this.#health(fresh);
      for (const id of fresh) {
        const problem = problems.get(id);
        if (problem !== undefined) {
          sick.add(id);
          minions[id]!.why = problem;
        }
      }
      // All at once: the scripts wait, and not for long.
      await Promise.all([
        this.#shell(
          fresh.filter((id) => sick.has(id)),
          refuseCommand,
        ),
        this.#confirm(fresh.filter((id) => !sick.has(id))),
      ]);
      const states = await this.#states(
        left.filter((id) => versions[id]?.success && !hasVersion(versions[id], version)),
      );
      const again: string[] = [];
      for (const id of left) {
        const { why, at, standing } = minions[id]!;
        if (standing !== 'started') continue;
        const state = states.get(id);
        if (state === 'returned') this.#note(id, 'returned', why || 'the new version did not answer in time');
        // The master was killed before the job went out.
        else if (state === '') again.push(id);
        else if (Date.now() > at + patience[versions[id]?.success ? 'answers' : 'silent'])
          this.#giveUp(id, versions[id]);
      }
      for (const id of again) minions[id]!.at = Date.now();
      await this.#shell(again, (folder) => startCommand(folder, agentScript(steps)));
      left = left.filter((id) => minions[id]?.standing === 'started');
      if (left.length > 0) await sleep(pauseMs, undefined, { signal: this.#ctx.signal });
    }
  }

  #giveUp(id: string, answer: Answer | undefined): void {
    const { why } = this.#record.minions[id]!;
    if (!answer?.success) this.#note(id, 'lost', why || 'it does not answer');
    else if (hasVersion(answer, this.#record.version))
      this.#note(id, 'failed', `it did not go back: ${why || 'not confirmed'}`);
    else this.#note(id, 'returned', why || 'the new version did not answer in time');
  }

  /** What the scripts of minions with the old version say; '' for one that was never started. */
  async #states(ids: readonly string[]): Promise<Map<string, string>> {
    const said = await this.#shell(ids, stateCommand);
    return new Map(
      Object.entries(said).flatMap(([id, { success, ret }]) => (success ? [[id, String(ret).trim()] as const] : [])),
    );
  }

  async #confirm(ids: readonly string[]): Promise<void> {
    const said = await this.#shell(ids, confirmCommand);
    for (const id of ids) if (String(said[id]?.ret).trim() === 'upgraded') this.#note(id, 'upgraded');
  }

  /** Why a minion with the new version is not well. */
  async #health(ids: readonly string[]): Promise<Map<string, string>> {
    const found = new Map<string, string>();
    const grains = await this.#ask(ids, 'grains.item', ['id']);
    for (const id of ids) {
      const ret = grains[id]?.ret;
      if (!isDict(ret) || dictGet(ret, 'id') !== id) found.set(id, 'the new version did not tell its grains');
    }
    const { state } = this.#record;
    if (state === '') return found;
    const well = ids.filter((id) => !found.has(id));
    const outcome = await this.#ask(well, 'state.apply', [state], newDict([['test', true]]));
    for (const id of well) {
      const { ret, retcode = 1 } = outcome[id] ?? { ret: null };
      const wrong =
        !isDict(ret) || Object.values(ret).some((each) => isDict(each) && dictGet(each, 'result') === false);
      if (wrong || retcode !== 0) found.set(id, `the state ${state} fails in test mode with the new version`);
    }
    return found;
  }
}
