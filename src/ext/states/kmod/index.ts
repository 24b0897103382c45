// State module `kmod`: modules of the kernel.
import {
  defineState,
  listTexts,
  needsFunction,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  type Value,
} from 'halite/sdk';

/** `Kernel module x is` and `Kernel modules x, y are`. */
const subject = (mods: readonly string[]): string =>
  mods.length === 1 ? `Kernel module ${mods[0]} is` : `Kernel modules ${mods.join(', ')} are`;
const object = (mods: readonly string[]): string => `kernel module${mods.length === 1 ? '' : 's'} ${mods.join(', ')}`;

interface Outcome {
  readonly changes: PlainDict;
  readonly comments: string[];
  readonly ok: boolean;
}

/** Calls a function for each module and groups the outcomes. */
async function each(
  mods: readonly string[],
  verb: 'load' | 'remove',
  done: string,
  call: (mod: string) => Promise<Value>,
): Promise<Outcome> {
  const changes = newDict();
  const [fine, nothing, failed]: [string[], string[], string[]] = [[], [], []];
  for (const mod of mods) {
    if (changes[mod] !== undefined) {
      fine.push(mod);
      continue;
    }
    const answer = await call(mod);
    if (!Array.isArray(answer)) failed.push(`Failed to ${verb} kernel module ${mod}: ${pyStr(answer)}`);
    else if (answer.length === 0) nothing.push(mod);
    else {
      for (const name of listTexts(answer)) changes[name] = done;
      fine.push(mod);
    }
  }
  const title = done === 'loaded' ? 'Loaded' : 'Removed';
  const comments = [
    ...(fine.length > 0 ? [`${title} ${object(fine)}`] : []),
    ...(nothing.length > 0 ? [`Failed to ${verb} ${object(nothing)}`] : []),
    ...failed,
  ];
  return { changes, comments, ok: nothing.length === 0 && failed.length === 0 };
}

const params = {
  name: p.string({ doc: 'the module' }),
  persist: p.bool({ default: false, doc: 'also at boot' }),
  mods: p.oneOf(['list', 'string'], { default: null, doc: 'several modules' }),
};

const listed = async (persist: boolean, ctx: StateContext): Promise<Set<string>> =>
  new Set(listTexts(persist ? await ctx.call('kmod.mod_list', true) : await ctx.call('kmod.mod_list')));

const present = state({
  doc: 'Modules that must be loaded.',
  examples: ['kvm_amd:\n  kmod.present:\n    - persist: true'],
  params,
  async run({ name, persist, mods }, ctx) {
    const wanted = Array.isArray(mods) ? listTexts(mods) : [name];
    const loaded = await listed(false, ctx);
    const kept = persist ? await listed(true, ctx) : loaded;
    const there = wanted.filter((mod) => loaded.has(mod) && kept.has(mod));
    const missing = wanted.filter((mod) => !there.includes(mod));
    const comments = there.length > 0 ? [`${subject(there)} already present`] : [];
    if (missing.length === 0) return ctx.ok(comments.join('\n'));
    return ctx.change(newDict(), '', {
      test: [...comments, `${subject(missing)} set to be loaded`].join('\n'),
      async apply(): Promise<StateResult> {
        const available = new Set(listTexts(await ctx.call('kmod.available')));
        const unknown = missing.filter((mod) => !available.has(mod));
        if (unknown.length > 0) comments.push(`${subject(unknown)} unavailable`);
        const done = await each(
          missing.filter((mod) => available.has(mod)),
          'load',
          'loaded',
          (mod) => ctx.call('kmod.load', mod, persist),
        );
        const comment = [...comments, ...done.comments].join('\n');
        return ctx.result({ result: done.ok && unknown.length === 0, comment, changes: done.changes });
      },
    });
  },
});

const absent = state({
  doc: 'Modules that must not be loaded.',
  examples: ['pcspkr:\n  kmod.absent'],
  params: {
    name: params.name,
    persist: params.persist,
    comment: p.bool({ default: true, doc: 'comment the line out instead of removing it' }),
    mods: params.mods,
  },
  async run({ name, persist, comment, mods }, ctx) {
    const wanted = Array.isArray(mods) ? listTexts(mods) : [name];
    const loaded = await listed(false, ctx);
    if (persist) for (const mod of await listed(true, ctx)) loaded.add(mod);
    const there = wanted.filter((mod) => loaded.has(mod));
    if (there.length === 0) return ctx.ok(`${subject(wanted)} already removed`);
    return ctx.change(newDict(), '', {
      test: `${subject(there)} set to be removed`,
      async apply() {
        const done = await each(there, 'remove', 'removed', (mod) => ctx.call('kmod.remove', mod, persist, comment));
        return ctx.result({ result: done.ok, comment: done.comments.join('\n'), changes: done.changes });
      },
    });
  },
});

export default defineState({
  name: 'kmod',
  doc: 'Modules of the kernel.',
  available: needsFunction('kmod.available', 'kmod module could not be loaded'),
  functions: { present, absent },
});
