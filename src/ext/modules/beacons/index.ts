// Execution module `beacons`: manages the beacons of this minion.
import { defineModule, fn, newDict, type PlainDict, p } from 'halite/sdk';
import { dumpYaml } from 'halite/sdk/codec';
import { answer, ask, isTest, listBeacons } from './ask.ts';
import { add, modify, remove, reset, save, switchAll, switchOne } from './changes.ts';

const name = p.string({ doc: 'the beacon' });
const beacon_data = p.oneOf(['list', 'dict'], { doc: 'its settings: a list of maps' });
const kwargs = p.kwargs({ doc: 'test: only report what would be done' });
const onlySays = ({ kwargs: given }: { readonly kwargs: PlainDict }): boolean => isTest(given);
const return_yaml = p.bool({ default: true, doc: 'as text' });

const reading = {
  list: fn({
    doc: 'Configured beacons.',
    examples: ["salt '*' beacons.list"],
    params: {
      return_yaml,
      include_pillar: p.bool({ default: true, doc: 'those of the pillar' }),
      include_opts: p.bool({ default: true, doc: 'those of the configuration' }),
      kwargs,
    },
    async run({ return_yaml: asText, include_pillar, include_opts }, ctx) {
      const beacons = await listBeacons(ctx, { include_pillar, include_opts });
      if (!beacons) return answer('Event module not available. Beacon list failed.', false);
      return asText ? dumpYaml(newDict([['beacons', beacons]]), { flow: false }) : beacons;
    },
  }),
  list_available: fn({
    doc: 'Beacons that can be configured on this minion.',
    examples: ["salt '*' beacons.list_available"],
    params: { return_yaml, kwargs },
    async run({ return_yaml: asText }, ctx) {
      const told = await ask(ctx, { func: 'list_available' });
      if (!told) return answer('Event module not available. Beacon list_available failed.', false);
      const beacons = told['beacons'] ?? [];
      return asText ? dumpYaml(newDict([['beacons', beacons]]), { flow: false }) : beacons;
    },
  }),
};

const writing = {
  add: fn({
    doc: 'Adds a beacon to the running minion; `beacons.save` makes it permanent.',
    examples: [`salt '*' beacons.add ps "[{'processes': {'salt-master': 'stopped'}}]"`],
    params: { name, beacon_data, kwargs },
    reads: onlySays,
    run: (args, ctx) => add(args.name, args.beacon_data, args.kwargs, ctx),
  }),
  modify: fn({
    doc: 'Changes the settings of a beacon.',
    examples: [`salt '*' beacons.modify ps "[{'processes': {'salt-master': 'running'}}]"`],
    params: { name, beacon_data, kwargs },
    reads: onlySays,
    run: (args, ctx) => modify(args.name, args.beacon_data, args.kwargs, ctx),
  }),
  delete: fn({
    doc: 'Removes a beacon.',
    examples: ["salt '*' beacons.delete ps"],
    params: { name, kwargs },
    reads: onlySays,
    run: (args, ctx) => remove(args.name, args.kwargs, ctx),
  }),
  reset: fn({
    doc: 'Removes all beacons of the configuration.',
    examples: ["salt '*' beacons.reset"],
    params: { kwargs },
    reads: onlySays,
    run: (args, ctx) => reset(args.kwargs, ctx),
  }),
  save: fn({
    doc: 'Writes the configured beacons to a file read at start.',
    examples: ["salt '*' beacons.save"],
    params: { kwargs },
    run: (_, ctx) => save(ctx),
  }),
};

const switching = {
  enable: fn({
    doc: 'Enables all beacons.',
    examples: ["salt '*' beacons.enable"],
    params: { kwargs },
    reads: onlySays,
    run: (args, ctx) => switchAll(true, args.kwargs, ctx),
  }),
  disable: fn({
    doc: 'Disables all beacons.',
    examples: ["salt '*' beacons.disable"],
    params: { kwargs },
    reads: onlySays,
    run: (args, ctx) => switchAll(false, args.kwargs, ctx),
  }),
  enable_beacon: fn({
    doc: 'Enables a beacon.',
    examples: ["salt '*' beacons.enable_beacon ps"],
    params: { name, kwargs },
    reads: onlySays,
    run: (args, ctx) => switchOne(args.name, true, args.kwargs, ctx),
  }),
  disable_beacon: fn({
    doc: 'Disables a beacon.',
    examples: ["salt '*' beacons.disable_beacon ps"],
    params: { name, kwargs },
    reads: onlySays,
    run: (args, ctx) => switchOne(args.name, false, args.kwargs, ctx),
  }),
};

export default defineModule({
  name: 'beacons',
  doc: 'Manages the beacons of this minion.',
  reads: ['list', 'list_available'],
  functions: { ...reading, ...writing, ...switching },
});
