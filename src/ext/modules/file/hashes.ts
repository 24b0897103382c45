// Functions of `file` for hashes of content.
import { createHash, getHashes } from 'node:crypto';
import { fn, invocationError, p, pythonError } from 'halite/sdk';
import { createReadStream, expandUser, isFile, osError } from 'halite/sdk/fs';

/** Hash lengths in hexadecimal digits, for hashes given without their name. */
const byLength = new Map([
  [32, 'md5'],
  [40, 'sha1'],
  [56, 'sha224'],
  [64, 'sha256'],
  [96, 'sha384'],
  [128, 'sha512'],
]);

/** The hash of a file in hexadecimal. */
export async function hashFile(path: string, form: string): Promise<string> {
  const name = form.replace(/^sha3_/, 'sha3-');
  if (!getHashes().includes(name)) throw pythonError('ValueError', `Invalid hash type: ${form}`);
  const hash = createHash(name);
  try {
    for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  } catch (error) {
    throw osError(error, path);
  }
  return hash.digest('hex');
}

/** Algorithm and digits of `md5:…`, `md5=…` or bare digits. */
function splitHash(text: string): { type: string; digits: string } {
  const match = /^([^:=]*)[:=](.*)$/s.exec(text);
  if (match) return { type: match[1] as string, digits: match[2] as string };
  const type = byLength.get(text.length);
  if (type === undefined) {
    const list = [...byLength].map(([length, name]) => `${name} (${length})`).join(', ');
    throw invocationError(
      `Hash ${text} (length: ${text.length}) could not be matched to a supported hash type. The supported hash types and lengths are: ${list}`,
    );
  }
  return { type, digits: text };
}

const path = p.path();

export const hashFunctions = {
  get_hash: fn({
    doc: 'The hash of a file.',
    examples: ["salt '*' file.get_hash /etc/shadow"],
    params: { path, form: p.string({ default: 'sha256' }), chunk_size: p.int({ default: 65536, doc: 'accepted' }) },
    run: (args) => hashFile(expandUser(args.path), args.form),
  }),
  get_sum: fn({
    doc: 'The hash of a file, or the text `File not found`.',
    examples: ["salt '*' file.get_sum /etc/passwd sha512"],
    params: { path, form: p.string({ default: 'sha256' }) },
    run(args) {
      const target = expandUser(args.path);
      return isFile(target) ? hashFile(target, args.form) : 'File not found';
    },
  }),
  check_hash: fn({
    doc: 'Whether a file has a hash: `<algorithm>:<digits>`, or digits whose number tells the algorithm.',
    examples: ["salt '*' file.check_hash /etc/fstab md5:<md5sum>"],
    params: { path, file_hash: p.scalar() },
    async run(args) {
      if (typeof args.file_hash !== 'string') throw invocationError('hash must be a string');
      const { type, digits } = splitHash(args.file_hash);
      return (await hashFile(expandUser(args.path), type)) === digits;
    },
  }),
};
