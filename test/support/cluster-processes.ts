// Programs of tests as processes of their own: told by lines of JSON, they tell by lines of JSON.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { build } from 'esbuild';
import type { MemberPlan } from './cluster-member.ts';
import { eventually } from './eventually.ts';

const root = resolve(import.meta.dirname, '../..');

/** A program beside this file; built once for a file of tests, and removed by `rmSync`. */
export async function buildProgram(name: string): Promise<string> {
  const outfile = join(root, 'node_modules/.cache', `${name}-${process.pid}-${Date.now()}.mjs`);
  await build({
    entryPoints: [join(import.meta.dirname, `${name}.ts`)],
    ...{ outfile, bundle: true, format: 'esm', platform: 'node', packages: 'external' },
  });
  return outfile;
}

export const buildMember = (): Promise<string> => buildProgram('cluster-member-process');

export interface MemberEvent {
  readonly say: string;
  readonly [key: string]: unknown;
}

export class LineProcess {
  readonly id: string;
  readonly events: MemberEvent[] = [];
  readonly #child: ChildProcess;
  #errors = '';

  constructor(id: string, program: string, plan: object, prefix: readonly string[] = []) {
    this.id = id;
    const [file, ...args] = [...prefix, process.execPath, program, JSON.stringify(plan)];
    this.#child = spawn(file!, args, { stdio: ['pipe', 'pipe', 'pipe'], cwd: root });
    createInterface({ input: this.#child.stdout! }).on('line', (line) =>
      this.events.push(JSON.parse(line) as MemberEvent),
    );
    this.#child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-4000);
    });
  }

  get pid(): number {
    return this.#child.pid ?? 0;
  }

  order(order: Record<string, unknown>): void {
    this.#child.stdin!.write(`${JSON.stringify(order)}\n`);
  }

  async event(
    say: string,
    fits: (event: MemberEvent) => boolean = () => true,
    timeoutMs = 60_000,
  ): Promise<MemberEvent> {
    const find = (): MemberEvent | undefined => this.events.find((event) => event.say === say && fits(event));
    const describe = (): string => `${this.#errors}\n${JSON.stringify(this.events.slice(-5))}`;
    const abort = (): boolean => this.#child.exitCode !== null;
    await eventually(`${this.id} to say ${say}`, () => find() !== undefined, { timeoutMs, describe, abort });
    return find()!;
  }

  /** What it says of itself now. */
  async tell(what = 'tell'): Promise<MemberEvent> {
    const before = this.events.filter((event) => event.say === 'told').length;
    this.order({ do: what });
    await eventually(
      `${this.id} to answer`,
      () => this.events.filter((event) => event.say === 'told').length > before,
      {
        timeoutMs: 120_000,
        describe: () => this.#errors,
      },
    );
    return this.events.findLast((event) => event.say === 'told')!;
  }

  kill(signal: NodeJS.Signals): void {
    this.#child.kill(signal);
  }

  async ended(): Promise<void> {
    await eventually(`${this.id} to end`, () => this.#child.exitCode !== null || this.#child.signalCode !== null);
  }
}

/** A member of a cluster without the rest of a master. */
export class MemberProcess extends LineProcess {
  readonly folder: string;

  constructor(program: string, plan: MemberPlan, prefix: readonly string[] = []) {
    const folder = plan.folder ?? mkdtempSync(join(tmpdir(), `halite-process-${plan.id}-`));
    super(plan.id, program, { ...plan, folder }, prefix);
    this.folder = folder;
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}
