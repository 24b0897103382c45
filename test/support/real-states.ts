// A tree of states that really change a system, applied in a disposable one: under test, for real, and again.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DisposableSystem } from './disposable.ts';
import { disposableTools } from './disposable-tools.ts';

const fixtures = fileURLToPath(new URL('../fixtures/states-real', import.meta.url));

export interface Outcome {
  readonly __id__: string;
  readonly result: boolean | null;
  readonly comment: string;
  readonly changes: Readonly<Record<string, unknown>>;
}
/** By tag: `file_|-id_|-name_|-managed`. */
export type Outcomes = Readonly<Record<string, Outcome>>;
export interface ThreeRuns {
  readonly test: Outcomes;
  readonly apply: Outcomes;
  readonly again: Outcomes;
}

/** `file_|-id_|-name_|-managed` as `file.managed id`. */
export function shortName(tag: string): string {
  const [module, id, , fun] = tag.split('_|-');
  return `${module}.${fun} ${id}`;
}

const config = `id: real
file_client: local
file_roots: {base: [${fixtures}/salt]}
pillar_roots: {base: [/srv/pillar]}
`;

export async function preparedSystem(visible: readonly string[] = []): Promise<DisposableSystem> {
  const system = await DisposableSystem.create(visible);
  const { status, stderr } = await system.run(['sh', '-s'], {
    input: readFileSync(join(fixtures, 'prepare.sh'), 'utf8'),
  });
  if (status !== 0) {
    await system.destroy();
    throw new Error(`the system could not be prepared: ${stderr}`);
  }
  system.write({
    '/etc/salt/minion': config,
    '/srv/pillar/top.sls': "base: {'*': [data]}\n",
    '/srv/pillar/data.sls': `tools: ${disposableTools() !== undefined}\ntext: {deep: from pillar}\n`,
  });
  return system;
}

/** Applies every SLS of the tree; `command` is all that stands before the function. */
export async function applyTree(
  system: DisposableSystem,
  command: readonly string[],
  ...extra: readonly string[]
): Promise<Outcomes> {
  const mods = readdirSync(join(fixtures, 'salt'))
    .filter((name) => name.endsWith('.sls'))
    .map((name) => name.slice(0, -'.sls'.length))
    .sort();
  const call = [...command, 'state.apply', mods.join(','), ...extra];
  const { stdout, stderr } = await system.run(call, { timeoutMs: 150_000 });
  // By the id of the minion: there is one.
  const answers = stdout.trim().startsWith('{') ? (JSON.parse(stdout) as Record<string, Outcomes | string[]>) : {};
  const [answer = []] = Object.values(answers);
  if (Array.isArray(answer)) throw new Error(`${answer.join('\n')}${stdout}${stderr}`);
  return answer;
}

export const quietCall = (saltCall: string): string[] => [saltCall, '--local', '--out=json', '--log-level=quiet'];

/** Applies every SLS of the tree with a `salt-call`. */
export async function applyThrice(system: DisposableSystem, saltCall: string): Promise<ThreeRuns> {
  const run = (...extra: string[]): Promise<Outcomes> => applyTree(system, quietCall(saltCall), ...extra);
  return { test: await run('test=True'), apply: await run(), again: await run() };
}
