// Tags of events and filters on them; which a minion may fire.
import { isDict } from '../../../src/base/codec/value.ts';
import { matchTypes, tagTest } from '../../../src/protocol/event/filter.ts';
import { minionMayFire } from '../../../src/protocol/event/minion-event-filter.ts';
import { roughSize, trimToSize } from '../../../src/protocol/event/trim.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';
import { anyDict, Choices } from '../engine/values.ts';

/** What the master's own decisions are read from. */
const reserved =
  /^(?:salt\/(?:auth|key)(?:\/.*)?|salt\/(?:presence|run|wheel|cloud|cluster)\/.*|halite\/.*|key|salt\/job\/[^/]*\/(?:new|publish|error))$/s;

const target: FuzzTarget = {
  maxLength: 300,
  tokens: [
    'salt/job/',
    '/ret/',
    '/new',
    '/prog/',
    'salt/auth',
    'salt/key',
    'salt/presence/',
    'key',
    'halite/',
    'syndic/',
    '20261116010000000000',
    '*',
    '[',
    '(',
    'm1',
  ],
  seeds: ['\u0001\u001asalt/job/20261116010000000000/ret/m1'],
  run: (bytes) => {
    const choices = new Choices(bytes);
    const match = choices.pick(matchTypes);
    const tag = choices.text(60);
    const wanted = choices.text(20);
    const test = read(() => tagTest({ tag: wanted, match }));
    if (test) hold(typeof test(tag) === 'boolean', 'a filter answers');
    const [, , , kind, id] = tag.split('/');
    if (minionMayFire(tag, 'm1')) {
      hold(!(tag.startsWith('salt/job/') && kind === 'ret' && id !== 'm1'), `returns of others: ${tag}`);
      hold(!reserved.test(tag), `a tag of the master: ${tag}`);
    }
    const data = anyDict(choices, ['data', 'id', 'return', '_stamp']);
    const trimmed = trimToSize(data, 200);
    // Each level may end with a mark of its own.
    hold(isDict(trimmed) && roughSize(trimmed) <= 200 + 6 * 40, `trimmed data is small: ${roughSize(trimmed)}`);
    hold(roughSize(data) > 200 || trimmed === data, 'what fits stays as it is');
  },
};
export default target;
