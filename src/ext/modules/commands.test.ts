// Functions that run tools give the same commands and answers as Salt when the tools print the recorded output.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineModule, fn, HaliteError, type Module, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { loadYaml } from 'halite/sdk/codec';
import { shellSplit } from 'halite/sdk/text';
import { testContext } from 'halite/testing';
import { describe, expect, it } from 'vitest';

interface CommandOutput {
  readonly retcode?: number;
  readonly stdout?: string;
  readonly stderr?: string;
}

interface Case {
  readonly it?: string;
  readonly fun: string;
  readonly args?: Value[];
  readonly kwargs?: PlainDict;
  /** Pattern of a command line → output of the tool. */
  readonly tool?: [string, CommandOutput][];
  /** Other functions replaced. */
  readonly calls?: Record<string, Value>;
  readonly ret?: Value;
  readonly raised?: string;
  readonly ran: string[][];
  /** Deliberate differences and their reasons. */
  readonly ours?: { readonly why: string } & Partial<Pick<Case, 'ret' | 'raised' | 'ran'>>;
}

const here = fileURLToPath(new URL('.', import.meta.url));
const fixture = new URL('../../../test/fixtures/modules/commands-3006.27.yaml', import.meta.url);
const cases = loadYaml(readFileSync(fixture, 'utf8')) as unknown as Case[];
const files: Record<string, string> = { augeas: 'augeas_cfg', influxdb: 'influxdbmod' };

async function moduleOf(fun: string): Promise<Module> {
  const name = fun.split('.')[0] ?? '';
  const file = files[name] ?? name;
  const path = existsSync(join(here, file, 'index.ts')) ? `${file}/index.ts` : `${file}.ts`;
  return ((await import(join(here, path))) as { default: Module }).default;
}

/** Fake tools that print the output given by the case and record the command lines. */
function tools(row: Case, ran: string[][]): Module[] {
  const runAll = (cmd: Value): Required<CommandOutput> & { pid: number } => {
    const [program = '', ...rest] = Array.isArray(cmd) ? cmd.map(pyStr) : shellSplit(pyStr(cmd));
    const argv = [program.replace(/^(\/usr)?\/s?bin\//, ''), ...rest];
    ran.push(argv);
    const said = row.tool?.find(([pattern]) => new RegExp(pattern).test(argv.join(' ')))?.[1] ?? {};
    return { pid: 1, retcode: 0, stdout: '', stderr: '', ...said };
  };
  const params = { cmd: p.any(), kwargs: p.kwargs() };
  const run = (read: (done: Required<CommandOutput>) => Value) =>
    fn({ doc: 'x', params, run: (args) => read(runAll(args.cmd)) });
  const cmd = {
    run_all: run((done) => newDict(Object.entries(done))),
    run: run(({ stdout, stderr }) => [stdout, stderr].filter(Boolean).join('\n')),
    run_stdout: run(({ stdout }) => stdout),
    retcode: run(({ retcode }) => retcode),
    has_exec: fn({ doc: 'x', params, run: () => true }),
  };
  const option = fn({
    doc: 'x',
    params: { name: p.any(), default: p.any({ default: '' }), kwargs: p.kwargs() },
    run: (args) => args.default,
  });
  const others = Object.entries(row.calls ?? {}).map(([name, answer]) => {
    const [module = '', function_ = ''] = name.split('.');
    const anything = fn({ doc: 'x', params: { args: p.rest(), kwargs: p.kwargs() }, run: () => answer });
    return defineModule({ name: module, doc: 'x', functions: { [function_]: anything } });
  });
  const config = defineModule({ name: 'config', doc: 'x', functions: { option, get: option } });
  return [defineModule({ name: 'cmd', doc: 'x', functions: cmd }), config, ...others];
}

function raisedText(error: unknown): string {
  if (!(error instanceof Error)) throw error;
  if (!(error instanceof HaliteError)) return `${error.name}: ${error.message}`;
  return `${error.code === 'call.arguments' ? 'SaltInvocationError' : 'CommandExecutionError'}: ${error.message}`;
}

describe.each([...new Set(cases.map((row) => row.fun.split('.')[0] ?? ''))])('commands of %s', (name) => {
  it.each(cases.filter((row) => row.fun.startsWith(`${name}.`)).map((row) => [row.fun, row.it ?? '', row] as const))(
    '%s %s',
    async (_fun, _it, given) => {
      const { why: _why, ...ours } = given.ours ?? { why: '' };
      const row = { ...given, ...ours };
      const ran: string[][] = [];
      const ctx = testContext({
        modules: [await moduleOf(row.fun), ...tools(row, ran)],
        grains: newDict([['os_family', 'Debian']]),
      });
      const got: { ret?: Value; raised?: string; ran: string[][] } = { ran };
      try {
        got.ret = await ctx.callWith(row.fun, row.args ?? [], row.kwargs ?? newDict());
      } catch (error) {
        got.raised = raisedText(error);
      }
      const { ret, raised, ran: wanted } = row;
      expect(got).toEqual({ ran: wanted, ...(raised === undefined ? { ret } : { raised }) });
    },
  );
});
