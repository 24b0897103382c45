// State module `composer`: dependencies of PHP projects.
import {
  type ArgsOf,
  defineState,
  isTruthy,
  messageOf,
  newDict,
  p,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
} from 'halite/sdk';
import { isExpected } from '../shared/calls.ts';

const project = {
  name: p.string({ doc: 'folder of the project' }),
  composer: p.scalar({ default: null, doc: 'path of composer' }),
  php: p.scalar({ default: null, doc: 'path of php' }),
  user: p.scalar({ default: null, doc: 'run as this user' }),
  prefer_source: p.scalar({ default: null, doc: 'fetch repositories' }),
  prefer_dist: p.scalar({ default: null, doc: 'fetch packages' }),
  no_scripts: p.scalar({ default: null, doc: 'run no scripts' }),
  no_plugins: p.scalar({ default: null, doc: 'load no plugins' }),
  optimize: p.scalar({ default: null, doc: 'optimise the autoloader' }),
  no_dev: p.scalar({ default: null, doc: 'without development dependencies' }),
  quiet: p.scalar({ default: false, nullable: true, doc: 'suppress the output of composer' }),
  composer_home: p.string({ default: '/root', doc: 'folder of composer' }),
};
const env = p.oneOf(['dict', 'list'], { default: null, doc: 'environment variables' });
type Args = ArgsOf<typeof project & { env: typeof env }>;

async function execute(action: 'install' | 'update', args: Args, ctx: StateContext): Promise<StateResult> {
  const { name, user, quiet, ...rest } = args;
  try {
    const said = textKeyed(await ctx.callWith(`composer.${action}`, [name], { ...rest, runas: user, quiet }));
    const done = `Composer ${action} completed successfully`;
    if (quiet === true) return ctx.ok(`${done}, output silenced by quiet flag`);
    const changes = newDict(Object.entries({ stderr: said['stderr'] ?? '', stdout: said['stdout'] ?? '' }));
    return ctx.ok(done, { changes });
  } catch (error) {
    if (!isExpected(error)) throw error;
    return ctx.fail(`Error executing composer in '${name}': ${messageOf(error)}`);
  }
}

const run = (action: 'install' | 'update', before: string, args: Args, ctx: StateContext): Promise<StateResult> =>
  ctx.change(newDict(), '', {
    test: `The state of "${args.name}" will be changed.`,
    testChanges: newDict([
      ['old', before],
      ['new', `composer ${action === 'install' ? action : 'install/update'} will be run in ${args.name}`],
    ]),
    apply: () => execute(action, args, ctx),
  });

export default defineState({
  name: 'composer',
  doc: 'Dependencies of PHP projects.',
  functions: {
    installed: state({
      doc: 'The locked dependencies of a project must be installed.',
      examples: ['/var/www/shop:\n  composer.installed:\n    - no_dev: True'],
      params: {
        ...project,
        always_check: p.scalar({
          default: true,
          nullable: true,
          doc: 'run composer also when dependencies are installed',
        }),
        env,
      },
      async run({ always_check, ...args }, ctx) {
        const there = isTruthy(await ctx.call('composer.did_composer_install', args.name));
        if (always_check === false && there) return ctx.ok('Composer already installed this directory');
        const before = `composer install has ${there ? '' : 'not '}been run in ${args.name}`;
        return run('install', before, args, ctx);
      },
    }),
    update: state({
      doc: 'Dependencies of a project are updated.',
      examples: ['/var/www/shop:\n  composer.update'],
      params: { ...project, env },
      async run(args, ctx) {
        // Salt's text has the meaning reversed; it is kept unchanged.
        const there = isTruthy(await ctx.call('composer.did_composer_install', args.name));
        const before = `composer install has ${there ? 'not yet ' : ''}been run in ${args.name}`;
        return run('update', before, args, ctx);
      },
    }),
  },
});
