// Outputter `progress`: how many minions have answered, as a bar.
import { asNumber, defineOutputter, dictGet, HaliteError, isDict, type Value } from 'halite/sdk';

const width = 40;

const count = (value: Value | undefined): number => {
  const number = asNumber(value);
  if (number === undefined) throw new HaliteError('call.arguments', 'no counts to show');
  return number;
};

export default defineOutputter({
  name: 'progress',
  doc: 'A bar from `return_count` and `minion_count`; anything else is left to the next outputter.',
  render(data) {
    if (!isDict(data)) throw new HaliteError('call.arguments', 'no counts to show');
    const done = count(dictGet(data, 'return_count'));
    // Behind a syndic more minions answer than were counted.
    const total = Math.max(done, count(dictGet(data, 'minion_count')), 1);
    const share = done / total;
    const bar = '#'.repeat(Math.floor(share * width)).padEnd(width);
    return `${String(Math.floor(share * 100)).padStart(3)}% |${bar}| Returns: [${done}/${total}]`;
  },
});
