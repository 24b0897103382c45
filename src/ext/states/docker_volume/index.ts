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
  type StateContext,
  state,
  type Value,
} from 'halite/sdk';
import { plain } from '../shared/calls.ts';

async function find(name: string, ctx: StateContext): Promise<PlainDict | undefined> {
  const all = plain(await ctx.call('docker.volumes'))['Volumes'];
  return (Array.isArray(all) ? all : []).map(plain).find((volume) => volume['Name'] === name);
}

/** A list of dictionaries as one. */
export const packed = (value: Value): Value =>
  Array.isArray(value) && value.length > 0 && value.every((item) => isDict(item))
    ? newDict(value.flatMap((item) => (isDict(item) ? dictEntries(item) : [])).map(([key, item]) => [pyStr(key), item]))
    : value;

const name = p.string({ doc: 'the volume' });

export default defineState({
  name: 'docker_volume',
  doc: 'Volumes of Docker.',
  available: needsFunction('docker.version', 'docker module could not be loaded'),
  functions: {
    present: state({
      doc: 'A volume that shall exist.',
      examples: ['data:\n  docker_volume.present:\n    - driver: local'],
      params: {
        name,
        driver: p.scalar({ default: null, doc: 'its driver' }),
        driver_opts: p.oneOf(['dict', 'list', 'string'], { default: null, doc: 'options of the driver' }),
        force: p.bool({ default: false, doc: 'replace one with another driver' }),
      },
      async run(args, ctx) {
        const volume = await find(args.name, ctx);
        const create = (): Promise<Value> =>
          ctx.callWith('docker.create_volume', [args.name], {
            driver: args.driver,
            driver_opts: packed(args.driver_opts),
          });
        const attempt = async (what: string, work: () => Promise<Value>): Promise<Value | { problem: string }> => {
          try {
            return await work();
          } catch (error) {
            return { problem: `Failed to ${what} volume '${args.name}': ${messageOf(error)}` };
          }
        };
        const failed = (answer: unknown): string | undefined => (answer as { problem?: string } | null)?.problem;
        if (!volume)
          return ctx.change(newDict(), '', {
            test: `The volume '${args.name}' will be created`,
            async apply() {
              const made = await attempt('create', create);
              return failed(made) === undefined
                ? ctx.ok('', { changes: newDict([['created', made as Value]]) })
                : ctx.fail(failed(made) as string);
            },
          });
        if (args.driver === null || volume['Driver'] === args.driver)
          return ctx.ok(`Volume '${args.name}' already exists.`);
        const now = pyStr(volume['Driver'] ?? '');
        if (!args.force) {
          const why = `Driver for existing volume '${args.name}' ('${now}') does not match specified driver ('${pyStr(args.driver)}') and force is False`;
          return ctx.result({ result: ctx.test ? null : false, comment: why });
        }
        return ctx.change(newDict(), '', {
          test: `The volume '${args.name}' will be replaced with a new one using the driver '${pyStr(args.driver)}'`,
          async apply() {
            const removed = await attempt('remove', () => ctx.call('docker.remove_volume', args.name));
            if (failed(removed) !== undefined) return ctx.fail(failed(removed) as string);
            const made = await attempt('create', create);
            const changes = newDict([['removed', removed as Value]]);
            if (failed(made) !== undefined) return ctx.fail(failed(made) as string, { changes });
            return ctx.ok('', { changes: newDict([...Object.entries(changes), ['created', made as Value]]) });
          },
        });
      },
    }),
    absent: state({
      doc: 'A volume that shall not exist.',
      examples: ['data:\n  docker_volume.absent'],
      params: { name, driver: p.scalar({ default: null, doc: 'no effect' }) },
      async run(args, ctx) {
        if (!(await find(args.name, ctx))) return ctx.ok(`Volume '${args.name}' already absent`);
        return ctx.change(newDict([['removed', true]]), '', {
          test: `The volume '${args.name}' will be removed`,
          async apply() {
            try {
              const removed = await ctx.call('docker.remove_volume', args.name);
              return ctx.ok('', { changes: newDict([['removed', removed]]) });
            } catch (error) {
              return ctx.fail(`Failed to remove volume '${args.name}': ${messageOf(error)}`);
            }
          },
        });
      },
    }),
  },
});
