// Execution module `supervisord`: programs under supervisor.
import {
  commandError,
  commandNotFound,
  defineModule,
  fn,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { isDirectory, isFile, joinPath, readText } from 'halite/sdk/fs';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

interface Where {
  readonly user: Value;
  readonly conf_file: Value;
  readonly bin_env: Value;
}

function tool(binEnv: Value): string {
  const missing = (): Error => commandNotFound('Could not find a `supervisorctl` binary');
  if (!binEnv) {
    const path = which('supervisorctl');
    if (path === null) throw missing();
    return path;
  }
  const path = pyStr(binEnv);
  if (!isDirectory(path)) return path;
  const inside = joinPath(path, 'bin', 'supervisorctl');
  if (!isFile(inside)) throw missing();
  return inside;
}

/** The output of supervisorctl; a failure without an error text is marked. */
async function control(command: string[], at: Where, ctx: ModuleContext): Promise<string> {
  const config = at.conf_file === null ? [] : ['-c', pyStr(at.conf_file)];
  const done = (await ctx.callWith('cmd.run_all', [[tool(at.bin_env), ...config, ...command]], {
    runas: at.user,
    python_shell: false,
  })) as unknown as { retcode: number; stdout: string };
  return done.retcode !== 0 && !done.stdout.includes('ERROR') ? `ERROR: ${done.stdout}` : done.stdout;
}

/** A group is written `name:*`; supervisorctl expects `name:`. */
const groupName = (name: string): string => (name.endsWith(':*') ? name.slice(0, -1) : name);
const bareName = (name: string): string => name.replace(/:\*?$/, '');

function parse(line: string): [string, string, string] {
  const match = /^(\S+)\s+(\S+)(?:\s+(.*))?$/s.exec(line.trim());
  return [match?.[1] ?? line.trim(), match?.[2] ?? '', match?.[3] ?? ''];
}

/** The settings of one program in supervisor's configuration. */
function settings(name: string, confFile: string | null): PlainDict {
  const path = confFile
    ? pyStr(confFile)
    : ['/etc/supervisor/supervisord.conf', '/etc/supervisord.conf'].find((file) => isFile(file));
  if (path === undefined) throw commandError('No suitable config file found');
  const found = newDict();
  let [inside, seen] = [false, false];
  for (const line of lines(readText(path) ?? '')) {
    const section = /^\[([^\]]*)\]/.exec(line.trim())?.[1];
    if (section !== undefined) {
      inside = section === `program:${name}`;
      seen ||= inside;
      continue;
    }
    const match = inside ? /^\s*([^#;=:\s][^=:]*?)\s*[=:]\s*(.*)$/.exec(line) : null;
    if (match) found[(match[1] ?? '').toLowerCase()] = setting((match[2] ?? '').split(';')[0]?.trim() ?? '');
  }
  if (!seen) throw commandError(`Process '${name}' not found`);
  return found;
}

function setting(text: string): Value {
  if (/^[+-]?\d+$/.test(text)) return Number(text);
  return /^true$/i.test(text) ? true : /^false$/i.test(text) ? false : text;
}

const where = {
  user: p.string({ default: null, doc: 'run as this user' }),
  conf_file: p.string({ default: null, falsy: null, doc: "supervisor's configuration" }),
  bin_env: p.string({
    default: null,
    falsy: null,
    doc: 'path of supervisorctl, or of the virtual environment it is in',
  }),
};
const one = p.string({ doc: 'the program, or `group:*`' });
const all = p.string({ default: 'all', doc: 'the program, `group:*`, or all' });
const named = p.string({ default: null, falsy: null, doc: 'only this program' });
const words = (name: string | null): string[] => (name ? [pyStr(name)] : []);
const onEvery = (verb: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' supervisord.${verb} web`],
    params: { name: all, ...where },
    run: (args, ctx) => control([verb, groupName(args.name)], args, ctx),
  });
const onOne = (verb: string, doc: string) =>
  fn({
    doc,
    examples: [`salt '*' supervisord.${verb} web`],
    params: { name: one, ...where },
    run: (args, ctx) => control([verb, bareName(args.name)], args, ctx),
  });

export default defineModule({
  name: 'supervisord',
  doc: 'Programs managed by supervisor.',
  reads: ['status', 'status_raw', 'custom', 'options', 'status_bool'],
  functions: {
    start: onEvery('start', 'Starts programs.'),
    restart: onEvery('restart', 'Restarts programs.'),
    stop: onEvery('stop', 'Stops programs.'),
    add: onOne('add', 'Takes a new program of the configuration up.'),
    remove: onOne('remove', 'Lets a program go that is no longer in the configuration.'),
    reread: fn({
      doc: 'Reads the configuration again, without applying it.',
      examples: ["salt '*' supervisord.reread"],
      params: where,
      run: (args, ctx) => control(['reread'], args, ctx),
    }),
    update: fn({
      doc: 'Reads the configuration again and restarts changed programs.',
      examples: ["salt '*' supervisord.update"],
      params: { ...where, name: named },
      run: (args, ctx) => control(['update', ...words(args.name).map(bareName)], args, ctx),
    }),
    status: fn({
      doc: 'The state of programs.',
      examples: ["salt '*' supervisord.status"],
      params: { name: named, ...where },
      async run(args, ctx) {
        const found = newDict();
        for (const line of lines(await control(['status', ...words(args.name)], args, ctx))) {
          const [process, state, reason] = parse(line);
          found[process] = newDict([
            ['state', state],
            ['reason', reason],
          ]);
        }
        return found;
      },
    }),
    status_raw: fn({
      doc: 'The state of programs as supervisorctl prints it.',
      examples: ["salt '*' supervisord.status_raw"],
      params: { name: named, ...where },
      run: (args, ctx) => control(['status', ...words(args.name)], args, ctx),
    }),
    custom: fn({
      doc: 'Any command of supervisorctl.',
      examples: ["salt '*' supervisord.custom pid"],
      params: { command: p.string({ doc: 'the command' }), ...where },
      run: (args, ctx) => control([args.command], args, ctx),
    }),
    options: fn({
      doc: 'The settings of a program.',
      examples: ["salt '*' supervisord.options web"],
      params: { name: p.string({ doc: 'the program' }), conf_file: where.conf_file },
      run: (args) => settings(args.name, args.conf_file),
    }),
    status_bool: fn({
      doc: 'Whether a program exists, and has a given state.',
      examples: ["salt '*' supervisord.status_bool web expected_state=RUNNING"],
      params: { name: one, expected_state: p.string({ default: null, doc: 'the state' }), ...where },
      async run(args, ctx) {
        const said = lines(await control(['status', args.name], args, ctx)).at(-1) ?? '';
        const [process, state, reason] = parse(said);
        if (reason === '(no such process)' || process !== args.name) return false;
        return args.expected_state === null || state === args.expected_state;
      },
    }),
  },
});
