// State module `cron`: jobs and variables in the crontabs of users.
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type ArgsOf,
  defineState,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { mkdtempSync, rmSync, writeFileSync } from 'halite/sdk/fs';
import { unifiedDiff } from 'halite/sdk/text';
import { isMeant, needsChange } from '../../shared/cron/table.ts';
import { byteLines, bytesOf } from '../../shared/file/content.ts';
import { cachedCopy, chooseSource, fetchSource } from '../../shared/file/source.ts';
import { failureText } from '../file/errors.ts';
import * as common from '../file/params.ts';

const timeFields = ['minute', 'hour', 'daymonth', 'month', 'dayweek'] as const;
const entries = (table: PlainDict, kind: string): PlainDict[] =>
  ((table[kind] as Value[] | undefined) ?? []).map(textKeyed);

type Status = 'absent' | 'present' | 'update';

/** Whether an entry exists, and as requested. */
async function statusOf(
  user: string,
  cmd: string,
  identifier: Value,
  wanted: PlainDict,
  ctx: StateContext,
): Promise<Status> {
  const table = textKeyed(await ctx.call('cron.list_tab', user));
  const kinds = 'spec' in wanted ? ['special'] : 'minute' in wanted ? ['crons'] : ['crons', 'special'];
  for (const entry of kinds.flatMap((kind) => entries(table, kind))) {
    if (!isMeant(entry as never, cmd, identifier)) continue;
    const all = { ...wanted, cmd, identifier: identifier ? pyStr(identifier) : null };
    return Object.entries(all).some(([key, value]) => needsChange(entry[key] ?? null, value)) ? 'update' : 'present';
  }
  return 'absent';
}

/** The result of adding an entry, with Salt's comments. */
function added(what: string, user: string, name: string, answer: Value, ctx: StateContext): StateResult {
  const changes = newDict([[user, name]]);
  if (answer === 'present') return ctx.ok(`${what} already present`, { name });
  if (answer === 'new') return ctx.ok(`${what} added to ${user}'s crontab`, { name, changes });
  if (answer === 'updated') return ctx.ok(`${what} updated`, { name, changes });
  return ctx.fail(`${what} for user ${user} failed to commit with error \n${pyStr(answer)}`, { name });
}

function removed(what: string, user: string, name: string, answer: Value, ctx: StateContext): StateResult {
  if (answer === 'absent') return ctx.ok(`${what} already absent`, { name });
  if (answer === 'removed')
    return ctx.ok(`${what} removed from ${user}'s crontab`, { name, changes: newDict([[user, name]]) });
  return ctx.fail(`${what} for user ${user} failed to commit with error ${pyStr(answer)}`, { name });
}

function forecast(what: string, name: string, status: Status, ctx: StateContext): StateResult {
  if (status === 'present') return ctx.ok(`${what} already present`, { name });
  return ctx.result({
    name,
    result: null,
    comment: `${what} is set to be ${status === 'absent' ? 'added' : 'updated'}`,
  });
}

function removalForecast(what: string, name: string, status: Status, ctx: StateContext): StateResult {
  if (status === 'absent') return ctx.ok(`${what} is absent`, { name });
  return ctx.result({ name, result: null, comment: `${what} is set to be removed` });
}

const user = p.string({ default: 'root', doc: 'whose crontab' });

const present = state({
  doc: 'A job in a crontab.',
  examples: [
    "backup:\n  cron.present:\n    - name: /usr/local/bin/backup\n    - identifier: backup\n    - minute: '0'\n    - hour: 3",
  ],
  params: {
    name: p.string({ doc: 'the command' }),
    user,
    minute: p.scalar({ default: '*', nullable: true, doc: '0–59, `*`, or `random` to choose once' }),
    hour: p.scalar({ default: '*', nullable: true, doc: '0–23' }),
    daymonth: p.scalar({ default: '*', nullable: true, doc: '1–31' }),
    month: p.scalar({ default: '*', nullable: true, doc: '1–12' }),
    dayweek: p.scalar({ default: '*', nullable: true, doc: '0–7, 0 is Sunday' }),
    comment: p.scalar({ default: null, doc: 'line above it' }),
    commented: p.bool({ default: false, doc: 'add it as a comment' }),
    identifier: p.scalar({
      default: false,
      nullable: true,
      doc: 'name of the entry, so that its command may change later; the command when left out',
    }),
    special: p.scalar({ default: null, doc: '`@daily`, `@reboot`, … instead of times' }),
  },
  async run(args, ctx) {
    const name = args.name.trim();
    const identifier = args.identifier === false ? name : args.identifier;
    const { comment, commented, special } = args;
    const what = `Cron ${name}`;
    const foreseen = async (): Promise<StateResult> => {
      const times = timeFields.map((field): [string, Value] => [field, pyStr(args[field]).toLowerCase()]);
      const wanted = newDict([
        ...(special === null ? times : ([['spec', special]] as [string, Value][])),
        ['comment', comment],
        ['commented', commented],
      ]);
      return forecast(what, name, await statusOf(args.user, name, identifier, wanted, ctx), ctx);
    };
    return withForecast(ctx, foreseen, async () => {
      const job = { user: args.user, cmd: name, comment, commented, identifier };
      const { minute, hour, daymonth, month, dayweek } = args;
      const answer =
        special === null
          ? await ctx.callWith('cron.set_job', [], { ...job, minute, hour, daymonth, month, dayweek })
          : await ctx.callWith('cron.set_special', [], { ...job, special });
      return added(what, args.user, name, answer, ctx);
    });
  },
});

const absent = state({
  doc: 'A job that must not be in a crontab.',
  examples: ['backup:\n  cron.absent:\n    - identifier: backup'],
  params: {
    name: p.string({ doc: 'the command' }),
    user,
    identifier: p.scalar({ default: false, nullable: true, doc: 'name of the entry; the command when left out' }),
    special: p.scalar({ default: null, doc: 'only the entry of this special time' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  run(args, ctx) {
    const name = args.name.trim();
    const what = `Cron ${name}`;
    const { special } = args;
    const identifier = args.identifier === false ? name : args.identifier;
    const foreseen = async (): Promise<StateResult> => {
      const wanted = special === null ? newDict([['minute', null]]) : newDict([['spec', special]]);
      return removalForecast(what, name, await statusOf(args.user, name, identifier, wanted, ctx), ctx);
    };
    return withForecast(ctx, foreseen, async () => {
      const answer =
        special === null
          ? await ctx.callWith('cron.rm_job', [args.user, name], { identifier })
          : await ctx.callWith('cron.rm_special', [args.user, name], { special, identifier });
      return removed(what, args.user, name, answer, ctx);
    });
  },
});

async function variableStatus(whose: string, name: string, value: Value, ctx: StateContext): Promise<Status> {
  const found = entries(textKeyed(await ctx.call('cron.list_tab', whose)), 'env').find(
    (entry) => entry['name'] === name,
  );
  if (!found) return 'absent';
  return pyStr(found['value'] ?? '') === pyStr(value ?? '') ? 'present' : 'update';
}

const env_present = state({
  doc: 'A variable in a crontab.',
  examples: ['MAILTO:\n  cron.env_present:\n    - value: admin@example.com'],
  params: { name: p.string({ doc: 'the variable' }), value: p.scalar({ default: null, doc: 'its value' }), user },
  async run({ name, value, user: whose }, ctx) {
    const what = `Cron env ${name}`;
    return withForecast(
      ctx,
      async () => forecast(what, name, await variableStatus(whose, name, value, ctx), ctx),
      async () => added(what, whose, name, await ctx.callWith('cron.set_env', [whose, name], { value }), ctx),
    );
  },
});

const env_absent = state({
  doc: 'A variable that must not be in a crontab.',
  examples: ['MAILTO:\n  cron.env_absent'],
  params: { name: p.string({ doc: 'the variable' }), user },
  async run({ name: given, user: whose }, ctx) {
    const name = given.trim();
    const what = `Cron env ${name}`;
    return withForecast(
      ctx,
      async () => removalForecast(what, name, await variableStatus(whose, name, '', ctx), ctx),
      async () => removed(what, whose, name, await ctx.call('cron.rm_env', whose, name), ctx),
    );
  },
});

/** The new crontab of a user; a text when it cannot be fetched. */
async function wantedTable(args: FileArgs, ctx: StateContext): Promise<Buffer | string> {
  const { source, hash } = await chooseSource(args.name, args.source_hash, ctx);
  const request = {
    name: 'crontab',
    source,
    hash,
    hashName: args.source_hash_name,
    template: args.template ? pyStr(args.template) : null,
    context: args.context,
    defaults: args.defaults,
    skipVerify: false,
    verifySsl: true,
    useEtag: false,
    extra: newDict([...Object.entries(args.kwargs), ['user', args.user]]),
  };
  const fetched = await fetchSource(request, ctx);
  if ('problem' in fetched) return fetched.problem;
  if (fetched.content) return bytesOf(fetched.content);
  const { path } = await cachedCopy(request, fetched.sum, ctx);
  return path ? bytesOf({ path }) : `Source file '${source}' not found`;
}

type FileArgs = ArgsOf<typeof fileParams>;

async function install(whose: string, content: Buffer, changes: PlainDict, ctx: StateContext): Promise<StateResult> {
  const folder = mkdtempSync(join(tmpdir(), 'halite-cron-'));
  const path = join(folder, 'crontab');
  try {
    writeFileSync(path, content, { mode: 0o600 });
    const answer = textKeyed(await ctx.call('cron.write_cron_file_verbose', whose, path));
    if (answer['retcode'] === 0) return ctx.ok(`Crontab for user ${whose} was updated`, { changes });
    return ctx.fail(`Unable to update user ${whose} crontab ${path}. Error: ${pyStr(answer['stderr'] ?? '')}`);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const fileParams = {
  name: p.string({ doc: 'source of the crontab: `salt://…`, a path or a URL' }),
  source_hash: common.sourceHash,
  source_hash_name: common.sourceHashName,
  user,
  template: common.template,
  context: common.context,
  replace: p.bool({ default: true, doc: 'false: keep an existing crontab' }),
  defaults: common.defaults,
  backup: common.backup,
  kwargs: common.kwargs,
};

const file = state({
  doc: 'The whole crontab of a user from a file.',
  examples: ['salt://files/crontab:\n  cron.file:\n    - user: www-data'],
  params: fileParams,
  async run(args, ctx) {
    const groups = textKeyed(await ctx.call('user.info', args.user))['groups'];
    if (!Array.isArray(groups) || groups.length === 0)
      return ctx.fail(`Could not identify group for user ${args.user}`);
    const raw = pyStr(await ctx.call('cron.raw_cron', args.user));
    const now = raw.endsWith('\n') ? raw : `${raw}\n`;
    if (!args.replace && now.length > 0) return ctx.ok(`User ${args.user} already has a crontab. No changes made`);
    let wanted: Buffer | string;
    try {
      wanted = await wantedTable(args, ctx);
    } catch (error) {
      return ctx.fail(`Unable to manage file: ${failureText(error)}`);
    }
    if (typeof wanted === 'string') return ctx.fail(wanted);
    const content = wanted;
    if (content.equals(Buffer.from(now))) return ctx.ok(`Crontab for user ${args.user} is in the correct state`);
    const changes = newDict([['diff', unifiedDiff(byteLines(Buffer.from(now)), byteLines(content))]]);
    return ctx.change(changes, `Crontab for user ${args.user} was updated`, {
      test: `The following values are set to be changed:\ndiff: ${pyStr(changes['diff'] ?? '')}\n`,
      apply: () => install(args.user, content, changes, ctx),
    });
  },
});

export default defineState({
  name: 'cron',
  doc: 'Jobs and variables in the crontabs of users.',
  available: needsFunction('cron.list_tab', 'cron module could not be loaded'),
  functions: { present, absent, env_present, env_absent, file },
});
