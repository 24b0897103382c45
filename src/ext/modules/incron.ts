// Execution module `incron`: commands that run when files change.

import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { defineModule, fn, type ModuleContext, needsPrograms, newDict, p, pythonError, type Value } from 'halite/sdk';
import { chownSync, isDirectory, mkdtempSync, readText, rmSync, writeFileSync } from 'halite/sdk/fs';
import { userByName } from 'halite/sdk/system';
import { lines, words } from 'halite/sdk/text';
import { command } from './shared/command.ts';

const systemFolder = '/etc/incron.d/';
const masks = new Set(
  [
    ...['ACCESS', 'ATTRIB', 'CLOSE_WRITE', 'CLOSE_NOWRITE', 'CREATE', 'DELETE', 'DELETE_SELF', 'MODIFY', 'MOVE_SELF'],
    ...[
      'MOVED_FROM',
      'MOVED_TO',
      'OPEN',
      'ALL_EVENTS',
      'MOVE',
      'CLOSE',
      'DONT_FOLLOW',
      'ONESHOT',
      'ONLYDIR',
      'NO_LOOP',
    ],
  ].map((name) => `IN_${name}`),
);

interface Job {
  readonly path: string;
  readonly mask: string;
  readonly cmd: string;
}
interface Table {
  readonly crons: readonly Job[];
  /** Lines that are not jobs. */
  readonly pre: readonly string[];
}

/** As Salt reads it: a job has at least four words. */
export function parseTable(text: string): Table {
  const [crons, pre]: [Job[], string[]] = [[], []];
  for (const line of lines(text)) {
    const [path = '', mask = '', ...rest] = words(line);
    if (rest.length > 1) crons.push({ path, mask, cmd: rest.join(' ') });
    else pre.push(line);
  }
  return { crons, pre };
}

async function raw(user: string, ctx: ModuleContext): Promise<string> {
  if (user === 'system') return readText(`${systemFolder}salt`) ?? '';
  return (await command(ctx, ['incrontab', '-l', user], { rstrip: false, runas: user })).stdout;
}

/** Empty, or incrontab's error message. */
async function write(user: string, { crons, pre }: Table, ctx: ModuleContext): Promise<string | undefined> {
  const text = [...pre, ...crons.map(({ path, mask, cmd }) => `${path} ${mask} ${cmd}`)].map((line) => `${line}\n`);
  if (user === 'system') {
    if (!isDirectory(systemFolder))
      throw pythonError('AttributeError', `salt cannot be written. ${systemFolder} does not exist`);
    writeFileSync(`${systemFolder}salt`, text.join(''));
    return undefined;
  }
  const folder = mkdtempSync(join(tmpdir(), 'halite-incron-'));
  try {
    const file = join(folder, 'table');
    writeFileSync(file, text.join(''));
    const owner = userByName(user);
    if (owner && owner.uid !== 0) for (const path of [folder, file]) chownSync(path, owner.uid, owner.gid);
    const done = await command(ctx, ['incrontab', file], { runas: user });
    return done.retcode === 0 ? undefined : done.stderr;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const parts = (mask: string): string[] => mask.split(',').sort();
const invalid = (mask: string): string | undefined => {
  const wrong = mask.split(',').find((name) => !masks.has(name));
  return wrong === undefined ? undefined : `Invalid mask type: ${wrong}`;
};

async function setJob(user: string, job: Job, ctx: ModuleContext): Promise<string> {
  const table = parseTable(await raw(user, ctx));
  const wanted = parts(job.mask);
  let updated = false;
  const kept: Job[] = [];
  for (const old of table.crons) {
    const now = parts(old.mask);
    const same = old.path === job.path && old.cmd === job.cmd;
    if (same && now.join() === wanted.join()) return 'present';
    if (same && wanted.some((name) => now.includes(name))) updated = true;
    else kept.push(old);
  }
  const problem = await write(user, { pre: table.pre, crons: [...kept, job] }, ctx);
  return problem ?? (updated ? 'updated' : 'new');
}

async function removeJob(user: string, job: Job, ctx: ModuleContext): Promise<string> {
  const { pre, crons } = parseTable(await raw(user, ctx));
  const at = crons.findIndex((old) => old.path === job.path && old.cmd === job.cmd && old.mask === job.mask);
  const problem = await write(user, { pre, crons: crons.filter((_, index) => index !== at) }, ctx);
  return problem ?? (at >= 0 ? 'removed' : 'absent');
}

const user = p.string({ doc: 'whose table; `system` is that of the machine' });
const job = {
  user,
  path: p.string({ doc: 'the file or folder' }),
  mask: p.string({ doc: 'the events to watch for' }),
  cmd: p.string({ doc: 'the command' }),
};

const change = (doc: string, example: string, work: typeof setJob) =>
  fn({
    doc,
    examples: [`salt '*' incron.${example}`],
    params: job,
    run(args, ctx): Promise<Value> | string {
      const mask = args.mask.toUpperCase();
      return invalid(mask) ?? work(args.user, { path: args.path, mask, cmd: args.cmd }, ctx);
    },
  });

export default defineModule({
  name: 'incron',
  doc: 'Commands that run when files change.',
  available: needsPrograms(['incrontab'], () => 'Cannot load incron module: incrontab command not found'),
  aliases: { ls: 'list_tab', rm: 'rm_job' },
  reads: ['list_tab', 'raw_incron', 'raw_system_incron'],
  functions: {
    list_tab: fn({
      doc: 'Jobs of a user, and the other lines of the table.',
      examples: ["salt '*' incron.list_tab root"],
      params: { user },
      async run(args, ctx) {
        const { crons, pre } = parseTable(await raw(args.user, ctx));
        return newDict(Object.entries({ crons: crons.map((one) => newDict(Object.entries(one))), pre: [...pre] }));
      },
    }),
    raw_incron: fn({
      doc: 'The raw table of a user.',
      examples: ["salt '*' incron.raw_incron root"],
      params: { user },
      run: (args, ctx) => raw(args.user, ctx),
    }),
    raw_system_incron: fn({
      doc: 'The system table that Salt manages.',
      examples: ["salt '*' incron.raw_system_incron"],
      run: (_, ctx) => raw('system', ctx),
    }),
    set_job: change('Adds or changes a job.', "set_job root /root IN_MODIFY 'echo $# $@'", setJob),
    rm_job: change('Removes a job.', "rm_job root /root IN_MODIFY 'echo $# $@'", removeJob),
    write_incron_file: fn({
      doc: 'Replaces the table of a user by a file.',
      examples: ["salt '*' incron.write_incron_file root /tmp/new_incron"],
      params: { user, path: p.string({ doc: 'the file' }) },
      run: async (args, ctx) => (await command(ctx, ['incrontab', args.path], { runas: args.user })).retcode === 0,
    }),
    write_incron_file_verbose: fn({
      doc: 'The same, with the complete output of incrontab.',
      examples: ["salt '*' incron.write_incron_file_verbose root /tmp/new_incron"],
      params: { user, path: p.string({ doc: 'the file' }) },
      run: (args, ctx) =>
        ctx.callWith('cmd.run_all', [['incrontab', args.path]], { runas: args.user, python_shell: false }),
    }),
  },
});
