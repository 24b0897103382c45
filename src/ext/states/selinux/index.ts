// State module `selinux`: mode, booleans, modules, and contexts of files and ports.
import {
  defineState,
  needsFunction,
  newDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';
import { fcontextAbsent, fcontextApplied, fcontextPresent, portAbsent, portPresent } from './policies.ts';

function modeOf(text: string): string | undefined {
  const word = text.toLowerCase();
  if (word.startsWith('e') || word === '1' || word === 'on') return 'Enforcing';
  if (word.startsWith('p') || word === '0' || word === 'off') return 'Permissive';
  return word.startsWith('d') ? 'Disabled' : undefined;
}

const isOneOf = (value: Value, ...accepted: string[]): boolean => accepted.includes(pyStr(value).toLowerCase());

const mode = state({
  doc: 'The mode, now and at boot.',
  examples: ['enforcing:\n  selinux.mode'],
  params: { name: p.string({ doc: 'enforcing, permissive or disabled' }) },
  async run({ name }, ctx) {
    const wanted = modeOf(name);
    if (!wanted) return ctx.fail(`${name} is not an accepted mode`);
    const now = await ctx.call('selinux.getenforce');
    const config = await ctx.call('selinux.getconfig');
    const old = now === wanted && config !== wanted ? config : now;
    if (old === wanted) return ctx.ok(`SELinux is already in ${wanted} mode`);
    return ctx.change(newDict(Object.entries({ old, new: wanted })), '', {
      test: `SELinux mode is set to be changed to ${wanted}`,
      async apply() {
        const after = await ctx.call('selinux.setenforce', wanted);
        const done = after === wanted || (wanted === 'Disabled' && (await ctx.call('selinux.getconfig')) === wanted);
        if (!done) return ctx.fail(`Failed to set SELinux to ${wanted} mode`);
        const changes = newDict(Object.entries({ old, new: after }));
        return ctx.ok(`SELinux has been set to ${wanted} mode`, { changes });
      },
    });
  },
});

const boolean = state({
  doc: 'A boolean of the policy.',
  examples: ['samba_create_home_dirs:\n  selinux.boolean:\n    - value: true\n    - persist: true'],
  params: {
    name: p.string({ doc: 'the boolean' }),
    value: p.scalar({ nullable: true, doc: 'on or off' }),
    persist: p.bool({ default: false, doc: 'also at boot' }),
  },
  async run({ name, value, persist }, ctx) {
    const found = textKeyed(await ctx.call('selinux.list_sebool'))[name];
    if (found === undefined) return ctx.fail(`Boolean ${name} is not available`);
    const wanted = isOneOf(value, '1', 'on', 'yes', 'true')
      ? 'on'
      : isOneOf(value, '0', 'off', 'no', 'false')
        ? 'off'
        : undefined;
    if (!wanted) return ctx.fail(`${pyStr(value)} is not a valid value for the boolean`);
    const { State, Default } = textKeyed(found);
    if (State === wanted && (!persist || Default === wanted)) return ctx.ok('Boolean is in the correct state');
    return ctx.change(newDict(), '', {
      test: `Boolean ${name} is set to be changed to ${wanted}`,
      async apply() {
        if (!(await ctx.call('selinux.setsebool', name, wanted, persist)))
          return ctx.fail(`Failed to set the boolean ${name} to ${wanted}`);
        const changes = newDict([['State', newDict(Object.entries({ old: State ?? null, new: wanted }))]]);
        if (persist && Default !== wanted)
          changes['Default'] = newDict(Object.entries({ old: Default ?? null, new: wanted }));
        return ctx.ok(`Boolean ${name} has been set to ${wanted}`, { changes });
      },
    });
  },
});

const install = (path: string, ctx: StateContext): Promise<StateResult> =>
  resource(ctx, {
    change: () => ctx.call('selinux.install_semod', path),
    would: `Module ${path} is set to be installed`,
    done: `Module ${path} has been installed`,
    failed: `Failed to install module ${path}`,
  });

const remove = (name: string, ctx: StateContext): Promise<StateResult> =>
  resource(ctx, {
    find: async () => name in textKeyed(await ctx.call('selinux.list_semod')),
    refuse: (found) => (found ? undefined : `Module ${name} is not available`),
    wanted: false,
    change: () => ctx.call('selinux.remove_semod', name),
    would: `Module ${name} is set to be removed`,
    done: `Module ${name} has been removed`,
    failed: `Failed to remove module ${name}`,
  });

const module = state({
  doc: 'An enabled or disabled module of the policy.',
  examples: ['mysql:\n  selinux.module:\n    - module_state: enabled'],
  params: {
    name: p.string({ doc: 'the module' }),
    module_state: p.scalar({ default: 'Enabled', nullable: true, doc: 'enabled or disabled' }),
    version: p.string({ default: 'any', doc: 'this version only' }),
    install: p.bool({ default: false, doc: 'install it first' }),
    remove: p.bool({ default: false, doc: 'remove it' }),
    source: p.string({ default: null, doc: 'the file to install' }),
    kwargs: p.kwargs({ doc: 'accepted' }),
  },
  async run({ name, module_state: asked, version, ...opts }, ctx) {
    if (opts.install && opts.remove) return ctx.fail('Cannot install and remove at the same time');
    if (opts.remove) return remove(name, ctx);
    if (opts.install) {
      const done = await install(opts.source ?? name, ctx);
      if (done.result !== true) return done;
    }
    const found = textKeyed(await ctx.call('selinux.list_semod'))[name];
    if (found === undefined) return ctx.fail(`Module ${name} is not available`);
    const word = (value: Value): string | undefined =>
      isOneOf(value, '1', 'on', 'yes', 'true', 'enabled')
        ? 'enabled'
        : isOneOf(value, '0', 'off', 'no', 'false', 'disabled')
          ? 'disabled'
          : undefined;
    const wanted = word(asked);
    if (!wanted) return ctx.fail(`${pyStr(asked)} is not a valid state for the ${name} module.`);
    const { Enabled = false, Version = null } = textKeyed(found);
    if (version !== 'any' && Version !== version)
      return ctx.fail(
        `Module version is ${Version === null ? 'None' : pyStr(Version)} and does not match the desired version of ${version} or you are using semodule >= 2.4`,
      );
    if (word(Enabled) === wanted) return ctx.ok(`Module ${name} is in the desired state`);
    return ctx.change(newDict(), `Module ${name} has been set to ${pyStr(asked)}`, {
      test: `Module ${name} is set to be toggled to ${pyStr(asked)}`,
      apply: async () =>
        (await ctx.call('selinux.setsemod', name, wanted))
          ? undefined
          : ctx.fail(`Failed to set the Module ${name} to ${pyStr(asked)}`),
    });
  },
});

const file = p.string({ doc: 'the file' });

export default defineState({
  name: 'selinux',
  doc: 'Mode, booleans, modules, and contexts of files and ports.',
  available: needsFunction('selinux.getenforce', 'selinux module could not be loaded'),
  functions: {
    mode,
    boolean,
    module,
    module_install: state({
      doc: 'Installs a module of the policy, each time.',
      examples: ['/srv/own.pp:\n  selinux.module_install'],
      params: { name: file },
      run: ({ name }, ctx) => install(name, ctx),
    }),
    module_remove: state({
      doc: 'Removes a module of the policy.',
      examples: ['own:\n  selinux.module_remove'],
      params: { name: file },
      run: ({ name }, ctx) => remove(name, ctx),
    }),
    fcontext_policy_present: fcontextPresent,
    fcontext_policy_absent: fcontextAbsent,
    fcontext_policy_applied: fcontextApplied,
    port_policy_present: portPresent,
    port_policy_absent: portAbsent,
  },
});
