// Execution module `key`: fingerprints of the keys this minion uses.
import { createHash, getHashes } from 'node:crypto';
import { join } from 'node:path';
import { commandError, defineModule, fn, type ModuleContext, p, pyStr } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';

/** Hash of the lines between BEGIN and END, in pairs of digits; empty when there is no such key. */
function fingerprint(file: string, hashType: string | null, ctx: ModuleContext): string {
  const pem = readText(join(pyStr(ctx.opts['pki_dir'] ?? ''), file));
  if (pem === undefined) return '';
  const hash = hashType ?? pyStr(ctx.opts['hash_type'] ?? 'sha256');
  if (!getHashes().includes(hash)) throw commandError(`No such hash: ${hash}`);
  const body = pem
    .split(/(?<=\n)/)
    .filter((line) => line.trim() !== '')
    .slice(1, -1)
    .join('');
  return createHash(hash)
    .update(body)
    .digest('hex')
    .replace(/..(?!$)/g, '$&:');
}

const params = { hash_type: p.string({ default: null, doc: 'algorithm; the hash_type option when not given' }) };

export default defineModule({
  name: 'key',
  doc: 'Fingerprints of the keys this minion uses.',
  reads: ['finger', 'finger_master'],
  functions: {
    finger: fn({
      doc: 'Fingerprint of this minion’s public key.',
      examples: ["salt '*' key.finger"],
      params,
      run: ({ hash_type }, ctx) => fingerprint('minion.pub', hash_type, ctx),
    }),
    finger_master: fn({
      doc: 'Fingerprint of the master’s public key that this minion stores.',
      examples: ["salt '*' key.finger_master"],
      params,
      run: ({ hash_type }, ctx) => fingerprint('minion_master.pub', hash_type, ctx),
    }),
  },
});
