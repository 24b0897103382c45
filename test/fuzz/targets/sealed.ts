// Sealed messages: what was not sealed with the key never opens; what was, is a value or an error of Halite's.

import { isDict } from '../../../src/base/codec/value.ts';
import { Crypticle } from '../../../src/base/crypto/index.ts';
import { isProblem } from '../../../src/protocol/wire/messages/fields.ts';
import { readOpenedLoad } from '../../../src/protocol/wire/messages/request.ts';
import { type FuzzTarget, hold, read } from '../engine/target.ts';

const crypticle = new Crypticle(Buffer.alloc(56, 7).toString('base64'));
const iv = Buffer.alloc(16, 1);
const nonce = '0123456789abcdef0123456789abcdef';

const target: FuzzTarget = {
  tokens: ['pickle::', nonce, '\u0082', '\u00a3cmd', '\u00a2id'],
  seeds: [
    crypticle.seal({ cmd: '_return', id: 'm' }, undefined, iv),
    Buffer.from('pickle::\x81\xa3cmd\xa1x', 'latin1'),
  ],
  run: (bytes) => {
    const seed = crypticle.seal({ cmd: '_return', id: 'm' }, undefined, iv);
    const opened = read(() => crypticle.decrypt(bytes));
    hold(opened === undefined || Buffer.compare(bytes, seed) === 0, 'only sealed bytes open');
    const sealed = crypticle.encrypt(bytes, iv);
    hold(crypticle.decrypt(sealed).equals(bytes), 'what is sealed opens');
    const value = read(() => crypticle.open(sealed, { maxItems: 10_000 }));
    if (value !== undefined) {
      const load = readOpenedLoad(value);
      hold(isProblem(load) || isDict(load.load), 'a problem or a load');
    }
    read(() => crypticle.open(sealed, { nonce }));
    const other = new Crypticle(Buffer.alloc(56, 7).toString('base64'));
    read(() => other.openPublish(sealed));
    hold(
      read(() => other.openPublish(crypticle.seal({ serial: 1e15 }, undefined, iv))) !== undefined ||
        value !== undefined,
      'a newer publish opens',
    );
  },
};
export default target;
