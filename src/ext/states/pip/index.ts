// State module `pip`: Python packages.
import { defineState, p, resource, state, textKeyed } from 'halite/sdk';
import { useVt, where } from '../../shared/pip/command.ts';
import { installed } from './installed.ts';

const removed = state({
  doc: 'A Python package that must not be installed.',
  examples: ['flask:\n  pip.removed'],
  params: {
    name: p.string({ doc: 'the package' }),
    requirements: p.oneOf(['string', 'list'], { default: null, doc: 'files of requirements' }),
    bin_env: where.bin_env,
    log: p.scalar({ default: null, doc: 'write a log there' }),
    proxy: p.scalar({ default: null, doc: 'proxy to use' }),
    timeout: p.scalar({ default: null, doc: 'seconds to wait' }),
    user: where.user,
    cwd: where.cwd,
    use_vt: useVt,
  },
  run(args, ctx) {
    const { name, bin_env, user, cwd, ...rest } = args;
    return resource(ctx, {
      find: async () => Object.hasOwn(textKeyed(await ctx.callWith('pip.list', [], { bin_env, user, cwd })), name),
      wanted: false,
      async change() {
        const done = textKeyed(await ctx.callWith('pip.uninstall', [], { pkgs: name, bin_env, user, cwd, ...rest }));
        // Salt reports success for a failed command here; a package that is still installed is a failure.
        return Object.keys(done).length > 0 && !done['retcode'];
      },
      changes: () => ({ [name]: 'Removed' }),
      right: 'Package is not installed.',
      would: `Package ${name} is set to be removed`,
      done: 'Package was successfully removed.',
      failed: 'Could not remove package.',
      error: (message, during) => (during === 'find' ? `Error uninstalling '${name}': ${message}` : message),
    });
  },
});

const uptodate = state({
  doc: 'Every Python package in its newest version.',
  examples: ['packages:\n  pip.uptodate:\n    - bin_env: /srv/app/venv'],
  params: { name: p.string({ doc: 'any text' }), ...where, use_vt: useVt },
  run: ({ bin_env, user, cwd, use_vt }, ctx) =>
    resource(ctx, {
      find: () => ctx.callWith('pip.list_upgrades', [], { bin_env, user, cwd }),
      wanted: false,
      async change() {
        const done = textKeyed(await ctx.callWith('pip.upgrade', [], { bin_env, user, cwd, use_vt }));
        if (done['result'] === false) return ctx.result(done);
        return Object.keys(done).length > 0
          ? ctx.ok('Upgrade successful.', { changes: done })
          : ctx.fail('Upgrade failed.');
      },
      right: 'System is already up-to-date.',
      would: 'System update will be performed',
      error: (message) => message,
    }),
});

export default defineState({ name: 'pip', doc: 'Python packages.', functions: { installed, removed, uptodate } });
