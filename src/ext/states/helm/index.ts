// State module `helm`: repositories of charts, and releases on Kubernetes.
import {
  defineState,
  isDict,
  isTruthy,
  messageOf,
  needsFunction,
  newDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { isExpected } from '../shared/calls.ts';

const name = p.string({ doc: 'any name' });
const release = p.string({ doc: 'the release' });
const common = {
  namespace: p.scalar({ default: null, doc: 'the namespace' }),
  flags: p.oneOf(['list', 'string'], { default: null, doc: 'list of options' }),
  kvflags: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'options with a value' }),
};

/** An action whose changes cannot be predicted: under test it only reports that it would run. */
const unlessTest = (ctx: StateContext, plan: string, work: () => Promise<StateResult>, failed: string) =>
  ctx.change(newDict(), '', {
    test: plan,
    async apply() {
      try {
        return await work();
      } catch (error) {
        if (!isExpected(error)) throw error;
        return ctx.fail(`${failed}: ${messageOf(error)}.`);
      }
    },
  });

const repo_managed = state({
  doc: 'Chart repositories that must exist, and that must not exist.',
  examples: [
    'charts:\n  helm.repo_managed:\n    - present:\n      - name: stable\n        url: https://charts.example.com',
  ],
  params: {
    name,
    present: p.oneOf(['list', 'string'], { default: null, doc: 'list of name and url' }),
    absent: p.oneOf(['list', 'string'], { default: null, doc: 'list of names' }),
    prune: p.bool({ default: false, doc: 'remove those not named' }),
    repo_update: p.bool({ default: false, doc: 'update them after a change' }),
    ...common,
  },
  run(args, ctx) {
    const { name: _name, repo_update, namespace, flags, kvflags, ...wanted } = args;
    const work = async (): Promise<StateResult> => {
      const said = textKeyed(await ctx.callWith('helm.repo_manage', [], { ...wanted, namespace, flags, kvflags }));
      if (isTruthy(said['failed'])) return ctx.fail('Failed to add or remove some repositories.', { changes: said });
      if (!isTruthy(said['added']) && !isTruthy(said['removed'])) return ctx.ok('Helm repo is managed.');
      if (repo_update) said['repo_update'] = await ctx.callWith('helm.repo_update', [], { namespace, flags, kvflags });
      return ctx.ok('Repositories were added or removed.', { changes: said });
    };
    return unlessTest(ctx, 'Helm repo would have been managed.', work, 'Failed to add some repositories');
  },
});

const repo_updated = state({
  doc: 'Updates the repositories.',
  examples: ['charts:\n  helm.repo_updated'],
  params: { name, ...common },
  run({ name: _name, ...call }, ctx) {
    const work = async (): Promise<StateResult> => {
      const said = await ctx.callWith('helm.repo_update', [], call);
      if (said === true) return ctx.ok('Helm repo is updated.');
      // Salt puts the error message into `changes`, which makes the result invalid.
      return ctx.fail(`Failed to sync some repositories.${said ? ` ${pyStr(said)}` : ''}`);
    };
    return unlessTest(ctx, 'Helm repo would have been updated.', work, 'Failed to update some repositories');
  },
});

const release_present = state({
  doc: 'A release that must be installed, and is upgraded if it is installed.',
  examples: ['web:\n  helm.release_present:\n    - chart: stable/nginx\n    - namespace: web'],
  params: {
    name: release,
    chart: p.scalar({ nullable: true, doc: 'the chart' }),
    values: p.scalar({ default: null, doc: 'file of values' }),
    version: p.scalar({ default: null, doc: 'version of the chart' }),
    namespace: common.namespace,
    set: p.oneOf(['list', 'string', 'dict'], { default: null, doc: 'value, or list of values, as name=value' }),
    flags: common.flags,
    kvflags: common.kvflags,
  },
  run({ name: which, ...call }, ctx) {
    const about = (): Promise<Value> => ctx.callWith('helm.status', [], { release: which, namespace: call.namespace });
    return ctx.change(newDict(), '', {
      test: 'Helm release would have been installed or updated.',
      async apply() {
        const there = isDict(await about());
        const done = await ctx.callWith(`helm.${there ? 'upgrade' : 'install'}`, [], { release: which, ...call });
        if (done !== true) return ctx.fail(pyStr(done));
        const now = await about();
        if (!isDict(now)) return ctx.fail(pyStr(now));
        const { manifest: _manifest, ...changes } = textKeyed(now);
        return ctx.ok(`Helm release ${which} is present`, { changes: newDict(Object.entries(changes)) });
      },
    });
  },
});

const release_absent = state({
  doc: 'A release that must not be installed.',
  examples: ['web:\n  helm.release_absent:\n    - namespace: web'],
  params: { name: release, ...common },
  run({ name: which, ...call }, ctx) {
    const comment = `Helm release ${which} is absent.`;
    return ctx.change(newDict(), '', {
      test: 'Helm release would have been uninstalled.',
      async apply() {
        if (!isDict(await ctx.callWith('helm.status', [], { release: which, namespace: call.namespace })))
          return ctx.ok(comment);
        const done = await ctx.callWith('helm.uninstall', [], { release: which, ...call });
        return done === true ? ctx.ok(comment, { changes: newDict([['absent', which]]) }) : ctx.fail(pyStr(done));
      },
    });
  },
});

export default defineState({
  name: 'helm',
  doc: 'Chart repositories, and releases on Kubernetes.',
  available: needsFunction('helm.status', 'helm module could not be loaded'),
  functions: { repo_managed, repo_updated, release_present, release_absent },
});
