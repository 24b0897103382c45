// State function pip.installed.
import {
  dictEntries,
  isDict,
  messageOf,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { isAtLeast, knowsWheelOption } from '../../shared/pip/command.ts';
import { installParams } from '../../shared/pip/params.ts';
import { parseRequirement } from '../../shared/pip/requirement.ts';
import { hasFunction } from '../shared/calls.ts';
import { settled, versionOf, type Wanted, type Whereabouts } from './check.ts';

type Args = Readonly<PlainDict>;

/** An error about an option that this version of pip does not support. */
function optionProblem(args: Args, version: string): string | undefined {
  for (const option of ['use_wheel', 'no_use_wheel'])
    if (args[option] && !knowsWheelOption(version))
      return `The '${option}' option is only supported in pip between 1.4 and 9.0.3. The version of pip detected was ${version}.`;
  if (args['no_binary'] && !isAtLeast(version, '7.0.0'))
    return `The 'no_binary' option is only supported in pip 7.0.0 and newer. The version of pip detected was ${version}.`;
  return undefined;
}

/** Lines of pip's output that report no change. */
const quiet = [
  'Requirement already satisfied',
  'Requirement already up-to-date',
  'Requirement not upgraded',
  'Collecting',
  'Cloning',
  'Cleaning up...',
  'Looking in indexes',
];
const lines = (done: PlainDict): string[] => pyStr(done['stdout'] ?? '').split('\n');

function sourcesDone(args: Args, done: PlainDict, ctx: StateContext): StateResult {
  const changes = newDict();
  const comments: string[] = [];
  const { requirements, editable } = args;
  if (requirements) {
    const news = lines(done).some((line) => !quiet.some((start) => line.trim().startsWith(start)));
    if (news) changes['requirements'] = true;
    comments.push(
      news
        ? `Successfully processed requirements file ${pyStr(requirements)}.`
        : 'Requirements were already installed.',
    );
  }
  if (editable) {
    comments.push(`Package successfully installed from VCS checkout ${pyStr(editable)}.`);
    changes['editable'] = true;
  }
  return ctx.ok(comments.join(' '), { changes });
}

function failure(
  args: Args,
  done: PlainDict,
  missing: readonly Wanted[],
  before: string[],
  ctx: StateContext,
): StateResult {
  const error =
    done['stdout'] === undefined
      ? `Error: ${pyStr(done['comment'] ?? '')}`
      : `Error: ${pyStr(done['stdout'])} ${pyStr(done['stderr'] ?? '')}`;
  const { requirements, editable } = args;
  if (!requirements && !editable) {
    const names = missing.map(({ text }) => text.replaceAll(',', ';')).join(', ');
    return ctx.fail([...before, `Failed to install packages: ${names}. ${error}`].join('\n'));
  }
  return ctx.fail(
    [
      ...(requirements ? [`Unable to process requirements file "${pyStr(requirements)}"`] : []),
      ...(editable ? [`Unable to install from VCS checkout ${pyStr(editable)}.`] : []),
      error,
    ].join(' '),
  );
}

async function packagesDone(
  done: PlainDict,
  pkgs: readonly string[],
  missing: readonly Wanted[],
  before: string[],
  at: Whereabouts,
  ctx: StateContext,
): Promise<StateResult> {
  const changes = newDict();
  const unseen: string[] = [];
  const said = 'Requirement already up-to-date: ';
  const untouched = lines(done)
    .filter((line) => line.startsWith(said))
    .map((line) => (line.slice(said.length).trim().split(/\s+/)[0] ?? '').toLowerCase());
  for (const { name, text } of missing) {
    if (name === '') {
      changes[`${text.replaceAll(',', ';')}==???`] = 'Installed';
      continue;
    }
    const list = textKeyed(await ctx.callWith('pip.list', [name], at));
    const version = versionOf(list, name);
    if (Object.keys(list).length === 0)
      unseen.push(
        `There was no error installing package '${pkgs.at(-1) ?? ''}' although it does not show when calling 'pip.freeze'.`,
      );
    else if (version !== undefined && !untouched.includes(name.toLowerCase()))
      changes[`${name}==${version}`] = 'Installed';
  }
  const last = unseen.length > 0 ? unseen : ['All packages were successfully installed'];
  return ctx.ok([...before, ...last].join('\n'), { changes });
}

/** Names in pip's form: `{flask: '>=1'}` is `flask >=1`. */
function packagesOf(name: string, pkgs: Value): string[] {
  if (!Array.isArray(pkgs) || pkgs.length === 0) return [name];
  return pkgs.map((item) => {
    const [key, value] = isDict(item) ? (dictEntries(item)[0] ?? ['', '']) : [item, ''];
    return `${pyStr(key)} ${pyStr(value)}`.trim();
  });
}

interface Plan {
  readonly args: Args;
  readonly pkgs: readonly string[];
  readonly at: Whereabouts;
  readonly missing: readonly Wanted[];
  readonly before: string[];
}

async function install({ args, pkgs, at, missing, before }: Plan, ctx: StateContext): Promise<StateResult> {
  const { name: _name, pip_bin: _bin, repo: _repo, pkgs: _pkgs, cache_dir: _cache, kwargs, ...options } = args;
  const answer = await ctx.callWith(
    'pip.install',
    [],
    newDict([
      ...Object.entries(options),
      ['pkgs', missing.map(({ text }) => text.replaceAll(',', ';')).join(',')],
      ['bin_env', at['bin_env'] ?? null],
      ['saltenv', ctx.saltenv],
      ['disable_version_check', true],
      ...Object.entries(textKeyed(kwargs)),
    ]),
  );
  const done = textKeyed(answer);
  if (Object.keys(done).length === 0) return ctx.fail('Could not install package');
  if (done['retcode'] !== 0) return failure(args, done, missing, before, ctx);
  return args['requirements'] || args['editable']
    ? sourcesDone(args, done, ctx)
    : packagesDone(done, pkgs, missing, before, at, ctx);
}

function announce(args: Args, wanted: readonly Wanted[], missing: readonly Wanted[]): string {
  const { requirements, editable } = args;
  if (requirements || editable)
    return [
      ...(requirements ? [`Requirements file '${pyStr(requirements)}' will be processed.`] : []),
      ...(editable
        ? [`Package will be installed in editable mode (i.e. setuptools "develop mode") from ${pyStr(editable)}.`]
        : []),
    ].join(' ');
  return wanted.length > 1
    ? ['Python package(s) set to be installed:', ...wanted.map(({ text }) => text)].join('\n')
    : `Python package ${missing[0]?.text ?? ''} is set to be installed`;
}

/** The packages that are not installed, and comments for the others. */
async function compare(args: Args, wanted: readonly Wanted[], at: Whereabouts, ctx: StateContext) {
  const rules = {
    ignore_installed: Boolean(args['ignore_installed']),
    force_reinstall: Boolean(args['force_reinstall']),
    upgrade: Boolean(args['upgrade']),
    index_url: args['index_url'] ?? null,
    extra_index_url: args['extra_index_url'] ?? null,
  };
  let list: PlainDict | undefined;
  try {
    list = textKeyed(await ctx.callWith('pip.list', [], at));
  } catch (error) {
    ctx.log.error(`pip.list failed: ${messageOf(error)}`);
  }
  const missing: Wanted[] = [];
  const before: string[] = [];
  const known = list && Object.keys(list).length > 0 ? list : undefined;
  for (const item of wanted) {
    const fine = item.name === '' ? undefined : await settled(item, rules, known, at, ctx);
    if (fine === undefined) missing.push(item);
    else before.push(fine);
  }
  return { missing, before };
}

async function run(args: Args, ctx: StateContext): Promise<StateResult> {
  const name = pyStr(args['name'] ?? '');
  if (args['pkgs'] && !Array.isArray(args['pkgs'])) return ctx.fail('pkgs argument must be formatted as a list');
  const pkgs = packagesOf(name, args['pkgs'] ?? null);
  const binEnv = args['bin_env'] || args['pip_bin'] || null;
  let version: string;
  try {
    version = pyStr(await ctx.call('pip.version', binEnv));
  } catch (error) {
    return ctx.fail(`Error installing '${name}': ${messageOf(error)}`);
  }
  const problem = optionProblem(args, version);
  if (problem !== undefined) return ctx.fail(problem);
  const bySource = Boolean(args['requirements'] || args['editable']);
  const parsed = bySource ? [] : pkgs.map((text) => ({ text, ...parseRequirement(text) }));
  const wrong = parsed.flatMap((item) => ('problem' in item ? [item.problem] : []));
  if (wrong.length > 0) return ctx.fail(wrong.join('\n'));
  const user = args['user'] ?? null;
  if (
    user &&
    (await hasFunction(ctx, 'user.info')) &&
    !(Object.keys(textKeyed(await ctx.call('user.info', user))).length > 0)
  )
    return ctx.fail(`User ${pyStr(user)} does not exist`);
  const at: Whereabouts = newDict([
    ['bin_env', binEnv],
    ['user', user],
    ['cwd', args['cwd'] ?? null],
    ['env_vars', args['env_vars'] ?? null],
  ]);
  const wanted = parsed.flatMap((item) => ('problem' in item ? [] : [item]));
  const { missing, before } = bySource ? { missing: [], before: [] } : await compare(args, wanted, at, ctx);
  if (!bySource && missing.length === 0)
    return ctx.ok(
      [...before, `All specified packages are already installed${args['upgrade'] ? ' and up-to-date' : ''}`].join('\n'),
    );
  return ctx.change(newDict(), '', {
    test: announce(args, wanted, missing),
    apply: () => install({ args, pkgs, at, missing, before }, ctx),
  });
}

const { saltenv: _saltenv, disable_version_check: _check, ...options } = installParams;

export const installed = state({
  doc: 'Python packages that must be installed.',
  examples: ['django:\n  pip.installed:\n    - name: django >= 4.2, <5\n    - bin_env: /srv/app/venv'],
  params: {
    name: p.string({ doc: 'the package, with a version if wanted: `flask==2.0`' }),
    pkgs: p.oneOf(['list', 'string'], { default: null, doc: 'several packages' }),
    pip_bin: p.scalar({ default: null, doc: 'old name of bin_env' }),
    repo: p.ignored({ default: null, doc: 'no effect' }),
    ...options,
    kwargs: p.kwargs({ doc: 'passed on to cmd.run_all' }),
  },
  run: (args, ctx) => run(args, ctx),
});
