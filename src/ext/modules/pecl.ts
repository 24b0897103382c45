// Execution module `pecl`: extensions of PHP.
import {
  defineModule,
  fn,
  isTrue,
  type ModuleContext,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';
import { command } from './shared/command.ts';

/** Each question of an extension is answered with an empty line; this is the maximum number of questions. */
const answers = '\n'.repeat(1000);

/** The output of pecl; empty when it failed. */
async function pecl(args: readonly string[], ctx: ModuleContext, defaults: Value = false): Promise<string> {
  const done = await command(ctx, ['pecl', ...args], { stdin: isTrue(defaults) ? answers : null });
  if (done.retcode === 0) return done.stdout;
  ctx.log.error('Problem running pecl. Is php-pear installed?');
  return '';
}

async function list(channel: string | null, ctx: ModuleContext): Promise<PlainDict> {
  const found = newDict();
  for (const line of lines(await pecl(['list', ...(channel ? ['-c', pyStr(channel)] : [])], ctx))) {
    const match = /^([^ ]+)[ ]+([^ ]+)[ ]+([^ ]+)/.exec(line);
    if (match) found[match[1] ?? ''] = [match[2] ?? '', match[3] ?? ''];
  }
  return found;
}

const names = (pecls: Value): string[] => (Array.isArray(pecls) ? pecls : [pecls]).map(pyStr);
const pecls = p.strings({ doc: 'one or several' });

export default defineModule({
  name: 'pecl',
  doc: 'Extensions of PHP.',
  available: () => which('pecl') !== null || 'The pecl execution module not loaded: pecl binary is not in the path.',
  reads: ['list'],
  functions: {
    install: fn({
      doc: 'Installs extensions.',
      examples: ["salt '*' pecl.install redis"],
      params: {
        pecls,
        defaults: p.isTrue({ default: false, doc: 'answer questions with the defaults' }),
        force: p.truthy({ default: false, doc: 'overwrite an installed one' }),
        preferred_state: p.string({ default: 'stable', doc: 'the preferred stability' }),
      },
      async run(args, ctx) {
        const wanted = names(args.pecls);
        const force = args.force;
        const argv = ['-d', `preferred_state=${args.preferred_state}`, 'install', ...(force ? ['-f'] : []), ...wanted];
        const said = await pecl(argv, ctx, args.defaults);
        if (force) return said;
        for (const name of wanted) {
          const channel = name.includes('/') ? (name.split('/')[0] ?? null) : null;
          if (Object.keys(await list(channel, ctx)).length === 0) return false;
        }
        return true;
      },
    }),
    uninstall: fn({
      doc: 'Removes extensions.',
      examples: ["salt '*' pecl.uninstall redis"],
      params: { pecls },
      run: (args, ctx) => pecl(['uninstall', ...names(args.pecls)], ctx),
    }),
    update: fn({
      doc: 'Updates extensions.',
      examples: ["salt '*' pecl.update redis"],
      params: { pecls },
      run: (args, ctx) => pecl(['install', '-U', ...names(args.pecls)], ctx),
    }),
    list: fn({
      doc: 'Installed extensions with version and state.',
      examples: ["salt '*' pecl.list"],
      params: { channel: p.string({ default: null, falsy: null, doc: 'only of this channel' }) },
      run: (args, ctx) => list(args.channel, ctx),
    }),
  },
});
