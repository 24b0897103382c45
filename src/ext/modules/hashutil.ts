// Execution module `hashutil`: hashes, base64 and signatures.
import { createHash, createHmac, getHashes, timingSafeEqual } from 'node:crypto';
import { commandError, defineModule, fn, p, pyStr, pythonError, type Value } from 'halite/sdk';
import { decodeBase64 } from 'halite/sdk/codec';
import { createReadStream, isFile, readFile, writeFile } from 'halite/sdk/fs';

const algorithms = ['md5', 'sha256', 'sha512'];
const bytesOf = (value: Value): Uint8Array => (value instanceof Uint8Array ? value : Buffer.from(pyStr(value)));
const digest = (value: Value, algorithm: string): string => createHash(algorithm).update(bytesOf(value)).digest('hex');

function requireAlgorithm(checksum: string): void {
  if (!algorithms.includes(checksum)) throw commandError(`Hash func '${checksum}' is not supported.`);
}

/** Text when the bytes are valid UTF-8, else the bytes. */
function textOrBytes(bytes: Buffer): Value {
  const text = bytes.toString('utf8');
  return Buffer.from(text, 'utf8').equals(bytes) ? text : new Uint8Array(bytes);
}

/** Decodes base64; wrong padding is an error, as in Python. */
function fromBase64(text: string): Buffer {
  const bytes = decodeBase64(text);
  if (typeof bytes !== 'string') return Buffer.from(bytes);
  throw pythonError('binascii.Error', bytes.replace('failed to decode base64 data: ', ''));
}

/** Base64 in lines of 76 characters, each with a line end. */
const inLines = (bytes: Uint8Array): string =>
  Buffer.from(bytes)
    .toString('base64')
    .replace(/.{1,76}/g, '$&\n');

function sameText(a: string, b: string): boolean {
  const [left, right] = [Buffer.from(a), Buffer.from(b)];
  return left.length === right.length && timingSafeEqual(left, right);
}

async function hashFile(path: string, algorithm: string): Promise<string> {
  const hash = createHash(algorithm);
  for await (const piece of createReadStream(path)) hash.update(piece as Buffer);
  return hash.digest('hex');
}

const instr = { instr: p.scalar({ doc: 'the text' }) };
const digestOf = (algorithm: string) =>
  fn({
    doc: `The ${algorithm} hash of a text in hexadecimal.`,
    examples: [`salt '*' hashutil.${algorithm}_digest 'get salted'`],
    params: instr,
    run: (args) => digest(args.instr, algorithm),
  });
const decoder = (name: string) =>
  fn({
    doc: 'Decodes base64 to text.',
    examples: [`salt '*' hashutil.${name} 'Z2V0IHNhbHRlZA=='`],
    params: instr,
    run: (args) => textOrBytes(fromBase64(pyStr(args.instr))),
  });
const hmacParams = { string: p.scalar({ doc: 'the message' }), shared_secret: p.scalar() };

export default defineModule({
  name: 'hashutil',
  doc: 'Hashes, base64 and signatures.',
  reads: [
    'digest',
    'digest_file',
    'md5_digest',
    'sha256_digest',
    'sha512_digest',
    'base64_b64encode',
    'base64_b64decode',
    'base64_encodestring',
    'base64_decodestring',
    'base64_encodefile',
    'hmac_signature',
    'hmac_compute',
    'github_signature',
  ],
  functions: {
    digest: fn({
      doc: 'The hash of a text in hexadecimal: md5, sha256 or sha512.',
      examples: ["salt '*' hashutil.digest 'get salted'"],
      params: { ...instr, checksum: p.string({ default: 'md5' }) },
      run(args) {
        requireAlgorithm(args.checksum);
        return digest(args.instr, args.checksum);
      },
    }),
    digest_file: fn({
      doc: 'The hash of a file in hexadecimal: md5, sha256 or sha512.',
      examples: ["salt '*' hashutil.digest_file /path/to/file"],
      params: { infile: p.path(), checksum: p.string({ default: 'md5' }) },
      run(args) {
        if (!isFile(args.infile)) throw commandError(`File path '${args.infile}' not found.`);
        requireAlgorithm(args.checksum);
        return hashFile(args.infile, args.checksum);
      },
    }),
    md5_digest: digestOf('md5'),
    sha256_digest: digestOf('sha256'),
    sha512_digest: digestOf('sha512'),
    base64_b64encode: fn({
      doc: 'A text in base64, in one line.',
      examples: ["salt '*' hashutil.base64_b64encode 'get salted'"],
      params: instr,
      run: (args) => Buffer.from(bytesOf(args.instr)).toString('base64'),
    }),
    base64_b64decode: decoder('base64_b64decode'),
    base64_encodestring: fn({
      doc: 'A text in base64, in lines of 76 characters.',
      examples: ["salt '*' hashutil.base64_encodestring 'get salted'"],
      params: instr,
      run: (args) => inLines(bytesOf(args.instr)),
    }),
    base64_decodestring: decoder('base64_decodestring'),
    base64_encodefile: fn({
      doc: 'A file in base64, in lines of 76 characters.',
      examples: ["salt '*' hashutil.base64_encodefile /path/to/binary_file"],
      params: { fname: p.path() },
      run: async ({ fname }) => inLines(await readFile(fname)),
    }),
    base64_decodefile: fn({
      doc: 'Decodes base64 and writes the bytes into a file.',
      examples: ["salt '*' hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile='/path/to/binary_file'"],
      params: { ...instr, outfile: p.path() },
      async run(args) {
        await writeFile(args.outfile, fromBase64(pyStr(args.instr)));
        return true;
      },
    }),
    hmac_signature: fn({
      doc: 'Whether a message has that HMAC-SHA256 signature (base64).',
      examples: [
        "salt '*' hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='",
      ],
      params: { ...hmacParams, challenge_hmac: p.string() },
      run(args) {
        const made = createHmac('sha256', bytesOf(args.shared_secret)).update(bytesOf(args.string)).digest('base64');
        return sameText(made, args.challenge_hmac);
      },
    }),
    hmac_compute: fn({
      doc: 'The HMAC-SHA256 signature of a message in hexadecimal.',
      examples: ["salt '*' hashutil.hmac_compute 'get salted' 'shared secret'"],
      params: hmacParams,
      run: (args) => createHmac('sha256', bytesOf(args.shared_secret)).update(bytesOf(args.string)).digest('hex'),
    }),
    github_signature: fn({
      doc: 'Whether a message has the signature GitHub sends with it (`sha1=…`, `sha256=…`).',
      examples: [
        "salt '*' hashutil.github_signature '{\"ref\":....}' 'shared secret' 'sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206'",
      ],
      params: { ...hmacParams, challenge_hmac: p.string() },
      run(args) {
        const [type = '', challenge] = args.challenge_hmac.split('=');
        if (challenge === undefined || !getHashes().includes(type))
          throw pythonError('ValueError', 'challenge_hmac must be <hash>=<signature>');
        return sameText(
          createHmac(type, bytesOf(args.shared_secret)).update(bytesOf(args.string)).digest('hex'),
          challenge,
        );
      },
    }),
  },
});
