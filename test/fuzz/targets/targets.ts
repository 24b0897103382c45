// Target expressions: parsed, matched, published and parsed again.
import { dictOf, newDict } from '../../../src/base/codec/value.ts';
import {
  expandNodegroups,
  matches,
  parseTarget,
  publishForm,
  resolve,
  type Subject,
  targetKinds,
} from '../../../src/protocol/target/index.ts';
import { type FuzzTarget, hold, read, textOf } from '../engine/target.ts';

const grains = dictOf([
  ['os', 'Debian'],
  ['roles', ['web', 'db']],
  ['ipv4', ['127.0.0.1', '10.1.2.3']],
  ['ipv6', ['::1']],
  ['deep', dictOf([['a', dictOf([['b', 1]])]])],
  [1, 'one'],
]);
const fleet: readonly Subject[] = [
  { id: 'web1', grains, pillar: grains },
  { id: 'web-2.example', grains: newDict(), pillar: newDict() },
  { id: 'db*' },
  { id: '' },
];
const nodegroups = { a: 'L@web1,db', b: ['N@a', 'and', 'G@os:Debian'], loop: 'N@loop', bad: 'G@' };

const target: FuzzTarget = {
  maxLength: 300,
  tokens: [
    ' and ',
    ' or ',
    ' not ',
    '( ',
    ' )',
    'G@os:',
    'P@os:(',
    'E@web',
    'L@a,b',
    'S@10.0.0.0/8',
    'S@::/0',
    'I@deep:',
    'J@deep:a',
    'N@a',
    'N@loop',
    'R@%x',
    '*',
    '?',
    '[!a-z]',
    ':',
    '(?P<x>a)',
    '\\d+',
    ',',
    'G|@',
    'P;@',
  ],
  seeds: [
    '\u000aG@os:Debian and not E@web\\d',
    '\u0003os:Deb*',
    '\u000a( L@web1,db1 or S@10.0.0.0/8 ) and *',
    '\u0009b',
    '\u0001web\\d+',
  ],
  run: (bytes) => {
    const kind = targetKinds[(bytes[0] ?? 0) % targetKinds.length]!;
    const text = textOf(bytes.slice(1));
    const strict = read(() => parseTarget(text, kind, { nodegroups }));
    const lenient = parseTarget(text, kind, { nodegroups, lenient: true });
    read(() => expandNodegroups(text, nodegroups));
    for (const subject of fleet)
      hold(['match', 'no-match', 'unknown'].includes(matches(lenient, subject)), 'a verdict');
    if (!strict) return;
    const first = resolve(strict, fleet);
    const form = publishForm(strict);
    const again = read(() =>
      parseTarget(form.tgt, form.tgt_type, form.delimiter === undefined ? {} : { delimiter: form.delimiter }),
    );
    if (again === undefined) return;
    hold(JSON.stringify(resolve(again, fleet)) === JSON.stringify(first), 'minions match what the master matches');
  },
};
export default target;
