// State module `docker_volume`: volumes of Docker.
import {
  defineState,
  dictEntries,
  isDict,
  messageOf,
  needsFunction,
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

async function find(name: string, ctx: StateContext): Promise<PlainDict | undefined> {
  const all = textKeyed(await ctx.call('docker.volumes'))['Volumes'];
  return (Array.isArray(all) ? all : []).map(textKeyed).find((volume) => volume['Name'] === name);
}

/** A list of dictionaries as one. */
export const packed = (value: Value): Value =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isDict(item))
    ? newDict(value.flatMap((item) => (isDict(item) ? dictEntries(item) : [])).map(([key, item]) => [pyStr(key), item]))
    : value;

const mismatch = (name: string, volume: PlainDict, driver: string): string =>
  `Driver for existing volume '${name}' ('${pyStr(volume['Driver'] ?? '')}') does not match specified driver ('${driver}') and force is False`;

const name = p.string({ doc: 'the volume' });

export default defineState({
  name: 'docker_volume',
  doc: 'Volumes of Docker.',
  available: needsFunction('docker.version', 'docker module could not be loaded'),
  functions: {
    present: state({
      doc: 'A volume that must exist.',
      examples: ['data:\n  docker_volume.present:\n    - driver: local'],
      params: {
        name,
        driver: p.scalar({ default: null, doc: 'its driver' }),
        driver_opts: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'options of the driver' }),
        force: p.bool({ default: false, doc: 'replace one with another driver' }),
      },
      run({ name, driver, driver_opts, force }, ctx) {
        const shown = pyStr(driver);
        const create = (): Promise<Value> =>
          ctx.callWith('docker.create_volume', [name], { driver, driver_opts: packed(driver_opts) });
        const failed = (what: string, error: unknown, extra = {}): StateResult =>
          ctx.fail(`Failed to ${what} volume '${name}': ${messageOf(error)}`, extra);
        return resource(ctx, {
          find: async () => (await find(name, ctx)) ?? null,
          compare: (volume) => volume === null || (driver !== null && volume['Driver'] !== driver),
          async change({ found: volume }) {
            const changes = newDict();
            try {
              if (volume !== null) {
                if (!force) return ctx.fail(mismatch(name, volume, shown));
                changes['removed'] = await ctx.call('docker.remove_volume', name);
              }
            } catch (error) {
              return failed('remove', error);
            }
            try {
              changes['created'] = await create();
              return ctx.ok('', { changes });
            } catch (error) {
              return failed('create', error, { changes });
            }
          },
          right: `Volume '${name}' already exists.`,
          would: ({ found: volume }) =>
            volume === null
              ? `The volume '${name}' will be created`
              : force
                ? `The volume '${name}' will be replaced with a new one using the driver '${shown}'`
                : mismatch(name, volume, shown),
        });
      },
    }),
    absent: state({
      doc: 'A volume that must not exist.',
      examples: ['data:\n  docker_volume.absent'],
      params: { name, driver: p.scalar({ default: null, doc: 'no effect' }) },
      run: ({ name }, ctx) =>
        resource(ctx, {
          find: async () => (await find(name, ctx)) ?? null,
          wanted: false,
          change: async () =>
            ctx.ok('', { changes: newDict([['removed', await ctx.call('docker.remove_volume', name)]]) }),
          changes: { removed: true },
          right: `Volume '${name}' already absent`,
          would: `The volume '${name}' will be removed`,
          error: (message) => `Failed to remove volume '${name}': ${message}`,
        }),
    }),
  },
});
