// State module `pip`: Python packages.
import { defineState, messageOf, newDict, p, state } from 'halite/sdk';
import { useVt, where } from '../../shared/pip/command.ts';
import { plain } from '../shared/calls.ts';
import { installed } from './installed.ts';

const removed = state({
  doc: 'A Python package that shall not be installed.',
  examples: ['flask:\n  pip.removed'],
  params: {
    name: p.string({ doc: 'the package' }),
    requirements: p.any({ default: null, doc: 'files of requirements' }),
    bin_env: where.bin_env,
    log: p.any({ default: null, doc: 'write a log there' }),
    proxy: p.any({ default: null, doc: 'proxy to use' }),
    timeout: p.any({ default: null, doc: 'seconds to wait' }),
    user: where.user,
    cwd: where.cwd,
    use_vt: useVt,
  },
  async run(args, ctx) {
    const { name, bin_env, user, cwd, ...rest } = args;
    let list: ReturnType<typeof plain>;
    try {
      list = plain(await ctx.callWith('pip.list', [], { bin_env, user, cwd }));
    } catch (error) {
      return ctx.fail(`Error uninstalling '${name}': ${messageOf(error)}`);
    }
    if (!Object.hasOwn(list, name)) return ctx.ok('Package is not installed.');
    return ctx.change(newDict([[name, 'Removed']]), 'Package was successfully removed.', {
      test: `Package ${name} is set to be removed`,
      testChanges: newDict(),
      async apply() {
        const done = plain(await ctx.callWith('pip.uninstall', [], { pkgs: name, bin_env, user, cwd, ...rest }));
        // Salt takes a failed command for success here; a package that stays is no success.
        return Object.keys(done).length > 0 && !done['retcode'] ? undefined : ctx.fail('Could not remove package.');
      },
    });
  },
});

const uptodate = state({
  doc: 'Every Python package in its newest version.',
  examples: ['packages:\n  pip.uptodate:\n    - bin_env: /srv/app/venv'],
  params: { name: p.string({ doc: 'any text' }), ...where, use_vt: useVt },
  async run({ bin_env, user, cwd, use_vt }, ctx) {
    let list: ReturnType<typeof plain>;
    try {
      list = plain(await ctx.callWith('pip.list_upgrades', [], { bin_env, user, cwd }));
    } catch (error) {
      return ctx.fail(messageOf(error));
    }
    if (Object.keys(list).length === 0) return ctx.ok('System is already up-to-date.');
    return ctx.change(newDict(), '', {
      test: 'System update will be performed',
      async apply() {
        const done = plain(await ctx.callWith('pip.upgrade', [], { bin_env, user, cwd, use_vt }));
        if (done['result'] === false) return ctx.result(done);
        return Object.keys(done).length > 0
          ? ctx.ok('Upgrade successful.', { changes: done })
          : ctx.fail('Upgrade failed.');
      },
    });
  },
});

export default defineState({ name: 'pip', doc: 'Python packages.', functions: { installed, removed, uptodate } });
