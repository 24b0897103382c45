// Presence texts of anybody who connects: read or not, never believed without the key.
import {
  bootText,
  presenceTopic,
  readBoot,
  readPresenceTopic,
  verifyPresence,
} from '../../../src/protocol/wire/presence-topic.ts';
import { type FuzzTarget, hold, textOf } from '../engine/target.ts';

const target: FuzzTarget = {
  tokens: ['halite1/', '/', '%41', '%ff', '~', '%00', '..'],
  seeds: [presenceTopic({ id: 'm1', boot: bootText('abc', { pid: 7, address: '10.0.0.1' }) }, 'key')],
  run: (bytes) => {
    const text = textOf(bytes);
    const claim = readPresenceTopic(text);
    const { pid, address } = readBoot(text);
    hold(pid >= 0 && pid < 1e9 && typeof address === 'string', 'a process id');
    if (!claim) return;
    hold(!verifyPresence(claim, 'another key'), 'nobody is believed without the key');
    const own = readPresenceTopic(presenceTopic(claim, 'k'));
    hold(
      own === undefined || (own.id === claim.id && verifyPresence(own, 'k')),
      'what is written is read and believed',
    );
  },
};
export default target;
