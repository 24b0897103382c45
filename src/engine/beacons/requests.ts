// Requests of functions about a minion's beacons: `{func, name, beacon_data, …}`, the messages of Salt's own module.
import { textField } from '../../base/codec/fields.ts';
import { newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Beacons } from './beacons.ts';

const answer = (fields: Record<string, Value>): PlainDict => newDict(Object.entries(fields));

type Change = (beacons: Beacons, name: string, data: Value) => string;

/** Changes, with Salt's comment for each. */
const changes: Readonly<Record<string, Change>> = {
  add: (beacons, name, data) => {
    const known = beacons.has(name);
    beacons.set(name, data);
    return known ? `Updating settings for beacon item: ${name}` : `Added new beacon item: ${name}`;
  },
  modify: (beacons, name, data) => {
    beacons.set(name, data);
    return `Updating settings for beacon item: ${name}`;
  },
  delete: (beacons, name) =>
    beacons.delete(name) ? `Deleting beacon item: ${name}` : `Beacon item ${name} not found.`,
  enable_beacon: (beacons, name) => {
    beacons.switch(name, true);
    return `Enabling beacon item ${name}`;
  },
  disable_beacon: (beacons, name) => {
    beacons.switch(name, false);
    return `Disabling beacon item ${name}`;
  },
  enable: (beacons) => {
    beacons.set('enabled', true);
    return '';
  },
  disable: (beacons) => {
    beacons.set('enabled', false);
    return '';
  },
  reset: (beacons) => {
    beacons.clear();
    return 'Beacons have been reset';
  },
};

/** Beacons of the pillar can only be changed in the pillar. */
const refusals: Readonly<Record<string, (name: string) => string>> = {
  add: (name) => `Cannot update beacon item ${name}, because it is configured in pillar.`,
  modify: (name) => `Cannot modify beacon item ${name}, it is configured in pillar.`,
  delete: (name) => `Cannot delete beacon item ${name}, it is configured in pillar.`,
  enable_beacon: (name) => `Cannot enable beacon item ${name}, it is configured in pillar.`,
  disable_beacon: (name) => `Cannot disable beacon item ${name}, it is configured in pillar.`,
};

async function look(beacons: Beacons, func: string, request: PlainDict): Promise<PlainDict | undefined> {
  switch (func) {
    case 'list': {
      const pillar = request['include_pillar'] === false ? {} : beacons.ofPillar();
      const own = request['include_opts'] === false ? {} : beacons.ofOpts();
      return answer({ complete: true, beacons: newDict([...Object.entries(pillar), ...Object.entries(own)]) });
    }
    case 'list_available':
      return answer({ complete: true, beacons: [...(await beacons.host.available())] });
    case 'validate_beacon': {
      const { valid, comment } = await beacons.host.validate(
        textField(request, 'name') ?? '',
        request['beacon_data'] ?? null,
      );
      return answer({ complete: true, valid, vcomment: comment });
    }
    case 'save':
      return answer({ complete: true, file: await beacons.host.save(beacons.ofOpts()) });
    default:
      return undefined;
  }
}

/** Handles a request and returns `{complete, comment, beacons}`, or other requested data. */
export async function answerBeacons(beacons: Beacons, request: PlainDict): Promise<PlainDict> {
  const func = textField(request, 'func') ?? '';
  const name = textField(request, 'name') ?? '';
  const seen = await look(beacons, func, request);
  if (seen) return seen;
  const change = Object.hasOwn(changes, func) ? changes[func] : undefined;
  if (!change) throw new HaliteError('call.arguments', `Beacons have no function "${func}"`);
  const refusal = refusals[func];
  if (refusal && beacons.inPillar(name))
    return answer({ complete: false, comment: refusal(name), beacons: beacons.ofOpts() });
  const comment = change(beacons, name, request['beacon_data'] ?? null);
  await beacons.host.changed();
  return answer({ complete: true, comment, beacons: beacons.ofOpts() });
}
