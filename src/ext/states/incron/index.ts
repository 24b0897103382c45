// State module `incron`: commands that run when files change.
import {
  type ArgsOf,
  defineState,
  needsFunction,
  newDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  withForecast,
} from 'halite/sdk';

const params = {
  name: p.string({ doc: 'any name' }),
  path: p.string({ doc: 'the file or folder' }),
  mask: p.oneOf(['list', 'string'], { doc: 'list of events to watch for' }),
  cmd: p.string({ doc: 'the command' }),
  user: p.string({ default: 'root', doc: 'whose table; `system` is that of the machine' }),
};
type Args = ArgsOf<typeof params>;

const maskOf = ({ mask }: Args): string => (Array.isArray(mask) ? mask : [...pyStr(mask)]).map(pyStr).join(',');

/** The state of the job in the table: present, present for other events, or absent. */
async function check(args: Args, ctx: StateContext): Promise<'present' | 'update' | 'absent'> {
  const wanted = maskOf(args).split(',').sort();
  const jobs = textKeyed(await ctx.call('incron.list_tab', args.user))['crons'];
  for (const job of (Array.isArray(jobs) ? jobs : []).map(textKeyed)) {
    if (job['path'] !== args.path || job['cmd'] !== args.cmd.replace(/\n$/, '')) continue;
    const mask = pyStr(job['mask'] ?? '')
      .split(',')
      .sort();
    if (mask.join() === wanted.join()) return 'present';
    if (wanted.some((name) => mask.includes(name))) return 'update';
  }
  return 'absent';
}

async function change(fun: string, args: Args, ctx: StateContext): Promise<string> {
  const { user, path, cmd } = args;
  return pyStr(await ctx.callWith(`incron.${fun}`, [], { user, path, mask: maskOf(args), cmd }));
}

const failed = (args: Args, said: string, gap: string, ctx: StateContext): StateResult =>
  ctx.fail(`Incron ${args.name} for user ${args.user} failed to commit with error ${gap}${said}`);

const present = state({
  doc: 'A command that runs when a file changes.',
  examples: ["reload:\n  incron.present:\n    - path: /etc/web\n    - mask: [IN_MODIFY]\n    - cmd: 'reload $@/$#'"],
  params,
  run(args, ctx) {
    const { name, user } = args;
    return withForecast(
      ctx,
      async () => {
        const status = await check(args, ctx);
        if (status === 'present') return ctx.ok(`Incron ${name} already present`);
        const verb = status === 'absent' ? 'added' : 'updated';
        return ctx.result({ result: null, comment: `Incron ${name} is set to be ${verb}` });
      },
      async () => {
        const said = await change('set_job', args, ctx);
        const changes = newDict([[user, name]]);
        if (said === 'present') return ctx.ok(`Incron ${name} already present`);
        if (said === 'new') return ctx.ok(`Incron ${name} added to ${user}'s incrontab`, { changes });
        if (said === 'updated') return ctx.ok(`Incron ${name} updated`, { changes });
        return failed(args, said, '\n', ctx);
      },
    );
  },
});

const absent = state({
  doc: 'A command that must not run any more.',
  examples: ["reload:\n  incron.absent:\n    - path: /etc/web\n    - mask: [IN_MODIFY]\n    - cmd: 'reload $@/$#'"],
  params,
  run(args, ctx) {
    const { name, user } = args;
    return withForecast(
      ctx,
      async () =>
        (await check(args, ctx)) === 'absent'
          ? ctx.ok(`Incron ${name} is absent`)
          : ctx.result({ result: null, comment: `Incron ${name} is set to be removed` }),
      async () => {
        const said = await change('rm_job', args, ctx);
        if (said === 'absent') return ctx.ok(`Incron ${name} already absent`);
        if (said === 'removed')
          return ctx.ok(`Incron ${name} removed from ${user}'s crontab`, { changes: newDict([[user, name]]) });
        return failed(args, said, '', ctx);
      },
    );
  },
});

export default defineState({
  name: 'incron',
  doc: 'Commands that run when files change.',
  available: needsFunction('incron.list_tab', 'incron module could not be loaded'),
  functions: { present, absent },
});
