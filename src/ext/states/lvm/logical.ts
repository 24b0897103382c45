// `lvm.lv_present` and `lv_absent`: logical volumes.
import {
  type ArgsOf,
  invocationError,
  isTruthy,
  newDict,
  type PlainDict,
  p,
  pyStr,
  resource,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
} from 'halite/sdk';

const factors: Readonly<Record<string, number>> = { s: 1 / 2048, m: 1, g: 1024, t: 1024 ** 2, p: 1024 ** 3 };

/** A size with unit in megabytes; plain numbers are megabytes. */
function megabytes(size: Value): number {
  const text = pyStr(size).toLowerCase();
  const match = /^(.*?)([a-z]?)(b?)$/.exec(text);
  const [, number = '', letter = '', byte = ''] = match ?? [];
  const unit = letter || (byte ? '' : 'm');
  if (!/^\d+$/.test(number)) throw invocationError(`Size ${pyStr(size)} is invalid.`);
  const factor = factors[unit];
  if (factor === undefined) throw invocationError(`Unit ${unit} is invalid.`);
  return Number(number) * factor;
}

const params = {
  name: p.string({ doc: 'the volume' }),
  vgname: p.string({ default: null, doc: 'its volume group' }),
  size: p.scalar({ default: null, doc: 'size' }),
  extents: p.scalar({ default: null, doc: 'size in extents' }),
  snapshot: p.string({ default: null, doc: 'name of the snapshot to make of the volume' }),
  pv: p.string({ default: '', doc: 'on this physical volume' }),
  thinvolume: p.bool({ default: false, doc: 'in a thin pool' }),
  thinpool: p.bool({ default: false, doc: 'a thin pool' }),
  force: p.bool({ default: false, doc: 'also shrink it; answer questions with yes' }),
  resizefs: p.bool({ default: false, doc: 'the filesystem too' }),
  kwargs: p.kwargs({ doc: 'further options of lvcreate' }),
};
type Args = ArgsOf<typeof params>;

function create(name: string, path: string, args: Args, ctx: StateContext): Promise<StateResult> {
  return ctx.change(newDict(), '', {
    test: `Logical Volume ${name} is set to be created`,
    async apply() {
      const { size, extents, pv, thinvolume, thinpool, force } = args;
      const how = { size, extents, snapshot: args.snapshot ? args.name : null, pv, thinvolume, thinpool, force };
      const kwargs = newDict([...Object.entries(how), ...Object.entries(args.kwargs)]);
      const created = await ctx.callWith('lvm.lvcreate', [name, args.vgname], kwargs);
      if (isTruthy(await ctx.call('lvm.lvdisplay', path)))
        return ctx.ok(`Created Logical Volume ${name}`, { changes: newDict([['created', created]]) });
      const why = typeof created === 'string' ? created : pyStr(textKeyed(created)['Output from lvcreate'] ?? '');
      return ctx.fail(`Failed to create Logical Volume ${name}. Error: ${why}`);
    },
  });
}

const lookUp = async (path: string, ctx: StateContext): Promise<PlainDict> =>
  textKeyed(textKeyed(await ctx.callWith('lvm.lvdisplay', [path], newDict([['quiet', true]])))[path]);

async function resize(name: string, path: string, args: Args, before: number, ctx: StateContext): Promise<StateResult> {
  const { size, extents, force, resizefs } = args;
  const how = newDict([['lvpath', path], ...(size ? [['size', size] as const] : [['extents', extents] as const])]);
  Object.assign(how, { resizefs, force });
  const changes = textKeyed(await ctx.callWith('lvm.lvresize', [], how));
  const after = megabytes(`${pyStr((await lookUp(path, ctx))['Logical Volume Size'] ?? '')}s`);
  if (after !== before)
    return ctx.result({
      result: isTruthy(changes),
      comment: `Resized Logical Volume ${name}`,
      changes: newDict([['resized', changes]]),
    });
  return ctx.fail(`Failed to resize Logical Volume ${name}.\nError: ${pyStr(changes['Output from lvresize'] ?? '')}`);
}

export const logicalPresent = state({
  doc: 'A logical volume of a size.',
  examples: ['www:\n  lvm.lv_present:\n    - vgname: data\n    - size: 10G'],
  params,
  async run(args, ctx) {
    const { size, extents, force, thinvolume } = args;
    if (extents && size) return ctx.fail('Only one of extents or size can be specified.');
    const wanted = size ? megabytes(size) : 0;
    const name = args.snapshot || args.name;
    const group = thinvolume ? (args.vgname ?? '').split('/')[0] : args.vgname;
    const path = `/dev/${group}/${name}`;
    const info = await lookUp(path, ctx);
    if (!isTruthy(info)) return create(name, path, args, ctx);
    if (!size && !extents) return ctx.ok(`Logical Volume ${name} already present`);
    const oldExtents = Number(info['Current Logical Extents Associated']);
    const oldSize = megabytes(`${pyStr(info['Logical Volume Size'] ?? '')}s`);
    const relative = !size && pyStr(extents).includes('%');
    const newExtents = size || relative ? oldExtents : Number(extents);
    const newSize = size ? wanted : oldSize;
    if (!force && (newSize < oldSize || newExtents < oldExtents))
      return ctx.fail("To reduce a Logical Volume option 'force' must be True.");
    if (newSize === oldSize && newExtents === oldExtents)
      return ctx.ok(
        relative
          ? `Logical Volume ${name} already present, ${pyStr(extents)} won't be resized.`
          : `Logical Volume ${name} already present`,
      );
    return ctx.change(newDict(), '', {
      test: `Logical Volume ${name} is set to be resized`,
      apply: () => resize(name, path, args, oldSize, ctx),
    });
  },
});

export const logicalAbsent = state({
  doc: 'A logical volume that must not exist.',
  examples: ['www:\n  lvm.lv_absent:\n    - vgname: data'],
  params: { name: params.name, vgname: params.vgname },
  run({ name, vgname }, ctx) {
    return resource(ctx, {
      find: () => ctx.callWith('lvm.lvdisplay', [`/dev/${vgname}/${name}`], { quiet: true }),
      wanted: false,
      change: () => ctx.call('lvm.lvremove', name, vgname),
      recheck: true,
      changes: ({ answer }) => ({ removed: answer }),
      right: `Logical Volume ${name} already absent`,
      would: `Logical Volume ${name} is set to be removed`,
      done: `Removed Logical Volume ${name}`,
      failed: `Failed to remove Logical Volume ${name}`,
    });
  },
});
