// The command `salt-fleet`: plays many minions against one master, shows what happens, and reports.
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { asText } from '../../base/codec/value.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { Snapshot } from '../../fleet/counters.ts';
import { FleetLead, type LeadNews } from '../../fleet/lead.ts';
import type { FleetOptions } from '../../fleet/options.ts';
import { type FleetReport, reportOf } from '../../fleet/report.ts';
import { deferred } from '../../protocol/wire/link/deferred.ts';
import { readCommandLine, usageExit } from '../command-line.ts';
import { type Terminal, terminal } from '../io.ts';
import { saltFleetSpec } from '../options/salt-fleet.ts';
import type { ParsedCommandLine } from '../optparse.ts';
import { LiveTable } from './live.ts';
import { type Order, orderNames, readOrders } from './orders.ts';
import { type FleetPlan, planFleet } from './plan.ts';
import { type Moment, momentOf, rates, reasonLines, tableOf } from './table.ts';

const liveMs = 1000;
const quietLiveMs = 10_000;
const interrupted = 130;
const drainMs = 5000;
const drainStepMs = 50;

type Values = ParsedCommandLine['values'];

export async function saltFleet(argv: readonly string[], io: Terminal = terminal): Promise<number> {
  const spec = saltFleetSpec();
  const parsed = await readCommandLine(spec, argv, io);
  const plan = await planFleet(parsed).catch((error: unknown) => {
    if (!(error instanceof HaliteError) || error.code !== 'cli.usage') throw error;
    return usageExit(spec, error.message, io, error.hint);
  });
  return new Run(plan, parsed.values, io).done();
}

class Run {
  readonly #plan: FleetPlan;
  readonly #values: Values;
  readonly #io: Terminal;
  readonly #lead: FleetLead;
  readonly #live: LiveTable;
  readonly #began = performance.now();
  readonly #timers: NodeJS.Timeout[] = [];
  readonly #end = deferred<void>();
  #orders: { close(): void } | undefined;
  #start: Snapshot | undefined;
  #before: Moment | undefined;
  #answered = 0;
  #broken = '';
  #drawing = false;
  #ending = false;

  constructor(plan: FleetPlan, values: Values, io: Terminal) {
    this.#plan = plan;
    this.#values = values;
    this.#io = io;
    this.#lead = new FleetLead((news) => this.#heard(news));
    this.#live = new LiveTable({ io, quiet: values['quiet'] === true || values['events'] === true });
  }

  async done(): Promise<number> {
    const { parts, durationMs } = this.#plan;
    this.#onSignals();
    this.#event({ event: 'start', minions: this.#minions, processes: parts.length, at: Date.now() });
    this.#lead.start(fileURLToPath(bundleFile('fleet-part')), parts);
    if (durationMs > 0) this.#timers.push(setTimeout(() => this.#end.resolve(), durationMs));
    const { onTerminal } = this.#live;
    this.#timers.push(setInterval(() => void this.#draw(), onTerminal ? liveMs : quietLiveMs));
    this.#orders = this.#needsOrders
      ? readOrders(
          (order) => void this.#obey(order),
          (word) => this.#io.err(`salt-fleet: no such order: ${word}; there are ${orderNames.join(', ')}\n`),
        )
      : undefined;
    await this.#end.promise;
    return this.#finish();
  }

  get #minions(): number {
    return this.#plan.parts.reduce((sum, { minions }) => sum + minions, 0);
  }

  get #needsOrders(): boolean {
    return this.#values['events'] === true || this.#values['hold'] === true;
  }

  /** The second one ends it at once. */
  #onSignals(): void {
    for (const signal of ['SIGINT', 'SIGTERM'] as const) {
      process.once(signal, () => {
        process.once(signal, () => process.exit(interrupted));
        this.#end.resolve();
      });
    }
  }

  #heard(news: LeadNews): void {
    if (news.say === 'part-ended') {
      this.#broken = news.why;
      this.#end.resolve();
      return;
    }
    if (news.say === 'job' || news.say === 'answered') {
      const { jid, fun, count, at } = news;
      this.#event({ event: news.say, jid, fun, minions: count, at });
      if (news.say === 'answered' && count > 0 && ++this.#answered === this.#plan.jobs) this.#end.resolve();
      return;
    }
    void this.#phase(news.say);
  }

  async #phase(say: string): Promise<void> {
    const snapshot = await this.#lead.snapshot();
    if (say === 'signed-in') this.#start = snapshot;
    this.#event({ event: say, at: Date.now(), report: reportOf(snapshot, this.#start) });
    const nobody = say === 'signed-in' && snapshot.counts.signedIn === 0;
    if (nobody || (say === 'signed-in' && this.#values['auth_only'] === true)) this.#end.resolve();
  }

  #event(event: Record<string, unknown>): void {
    if (this.#values['events'] === true) this.#io.out(`${JSON.stringify(event)}\n`);
  }

  async #obey(order: Order): Promise<void> {
    if (order === 'quit') return this.#end.resolve();
    if (order === 'stats') return this.#event({ event: 'stats', at: Date.now(), report: await this.#report() });
    if (order === 'storm') this.#lead.order({ do: 'storm', share: this.#plan.stormShare });
    else this.#lead.order({ do: order });
    this.#event({ event: order, at: Date.now() });
  }

  async #report(): Promise<FleetReport> {
    return reportOf(await this.#lead.snapshot(), this.#start);
  }

  async #draw(): Promise<void> {
    if (this.#drawing || this.#values['quiet'] === true || this.#values['events'] === true) return;
    this.#drawing = true;
    const report = await this.#report();
    this.#drawing = false;
    if (this.#ending) return;
    const now = performance.now();
    this.#live.show(this.#table(report, rates(report, this.#before, now)));
    this.#before = momentOf(report, now);
  }

  #table(report: FleetReport, now?: { returns: number; signIns: number }): string[] {
    const elapsedMs = performance.now() - this.#began;
    const facts = { master: this.#plan.master, about: aboutOf(this.#plan.parts), elapsedMs, ...(now ? { now } : {}) };
    return tableOf(report, facts, this.#live.width);
  }

  async #finish(): Promise<number> {
    this.#ending = true;
    for (const timer of this.#timers) clearTimeout(timer);
    await this.#drain();
    const report = await this.#report();
    const seconds = Math.round(performance.now() - this.#began) / 1000;
    await this.#lead.stop();
    this.#orders?.close();
    this.#live.clear();
    const whole = {
      seconds,
      master: { ...report.master, address: this.#plan.master },
      options: this.#shownOptions,
      ...reportBody(report),
    };
    this.#print(report, whole);
    this.#write(whole);
    if (this.#broken !== '') this.#io.err(`ERROR: ${this.#broken}\n`);
    return this.#broken === '' && isGood(report, this.#minions) ? exitCodes.ok : exitCodes.generic;
  }

  /** Answers that are under way are acknowledged in a moment, and then they are not missing. */
  async #drain(): Promise<void> {
    const until = performance.now() + drainMs;
    while (this.#broken === '' && performance.now() < until) {
      if ((await this.#lead.snapshot()).counts.queued === 0) return;
      await new Promise((resolve) => setTimeout(resolve, drainStepMs));
    }
  }

  #print(report: FleetReport, whole: Record<string, unknown>): void {
    if (this.#values['events'] === true) {
      this.#event({ event: 'report', at: Date.now(), report: whole });
      return;
    }
    if (this.#values['json'] === true) {
      this.#io.out(`${JSON.stringify(whole, null, 2)}\n`);
      return;
    }
    const reasons = reasonLines(report);
    const lines = [...this.#table(report), ...(reasons.length > 0 ? ['  what went wrong:', ...reasons] : [])];
    this.#io.out(`${lines.join('\n')}\n`);
  }

  #write(whole: Record<string, unknown>): void {
    const file = asText(this.#values['report']) ?? '';
    if (file === '') return;
    try {
      writeFileSync(file, `${JSON.stringify(whole, null, 2)}\n`);
    } catch (error) {
      throw new HaliteError('path.refused', `The report cannot be written: ${messageOf(error)}`);
    }
  }

  /** Those that tell one run from another. */
  get #shownOptions(): Partial<FleetOptions> & { processes: number } {
    const [part] = this.#plan.parts;
    const { transport, protocol, behaviour, share, delayMs, jitter, fail, drop, duplicate, resultBytes, light, token } =
      part!;
    const connections = this.#plan.parts.reduce((sum, each) => sum + each.connections, 0);
    return {
      ...{ processes: this.#plan.parts.length, transport, protocol, behaviour, connections, share },
      ...{ delayMs, jitter, fail, drop, duplicate, resultBytes, light, token },
    };
  }
}

function reportBody({ master: _, ...body }: FleetReport): Omit<FleetReport, 'master'> {
  return body;
}

function aboutOf(parts: readonly FleetOptions[]): string {
  const [first] = parts;
  return first
    ? `${first.transport}, protocol ${first.protocol}, as ${first.behaviour}, ${parts.length} processes`
    : '';
}

/** Everything that was asked for: all signed in, and every answer acknowledged that was not to be lost. */
const isGood = ({ signedIn, signIns, returns }: FleetReport, minions: number): boolean =>
  signIns.failed === 0 && (signedIn > 0 || minions === 0) && returns.missing - returns.held <= 0 && returns.lost === 0;
