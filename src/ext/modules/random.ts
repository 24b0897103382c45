// Execution module `random`: random numbers, texts and choices, and password hashes.
import { createHash, getHashes, randomInt } from 'node:crypto';
import {
  defineModule,
  dictGet,
  fn,
  invocationError,
  type ModuleContext,
  p,
  pyInt,
  pyStr,
  pythonError,
  type Value,
} from 'halite/sdk';
import { which } from 'halite/sdk/system';
import { cryptPassword, randomSalt } from './shared/crypt.ts';
import { PyRandom } from './shared/mersenne.ts';

const lower = 'abcdefghijklmnopqrstuvwxyz';
const digits = '0123456789';
const punctuation = '!"#$%&\'()*+,-./:;<=>?@[\\]^_`{|}~';
const whitespace = ' \t\n\r\v\f';
const printable = digits + lower + lower.toUpperCase() + punctuation + whitespace;

const bytesOf = (value: Value): Uint8Array => (value instanceof Uint8Array ? value : Buffer.from(pyStr(value)));

/** Python's names of hashes → Node's names. */
function hashHex(value: Value, algorithm: string): string {
  const name = algorithm
    .replace(/^sha3_/, 'sha3-')
    .replace(/^blake2b$/, 'blake2b512')
    .replace(/^blake2s$/, 'blake2s256');
  if (!getHashes().includes(name)) throw pythonError('SaltException', 'You must specify a valid algorithm.');
  return createHash(name).update(bytesOf(value)).digest('hex');
}

export function randomText(length: number, letters: string): string {
  return Array.from({ length }, () => letters.charAt(randomInt(letters.length))).join('');
}

function seeded(seed: Value): PyRandom {
  if (typeof seed === 'string' || typeof seed === 'bigint') return new PyRandom(seed);
  return new PyRandom(typeof seed === 'number' && Number.isInteger(seed) ? seed : pyStr(seed));
}

function sample(value: Value, size: number, seed: Value): Value[] {
  const list: Value[] = Array.isArray(value) ? value : [...pyStr(value)];
  if (size < 0 || size > list.length) throw pythonError('ValueError', 'Sample larger than population or is negative');
  if (seed === null) {
    const pool = [...list];
    return Array.from({ length: size }, () => pool.splice(randomInt(pool.length), 1)[0] as Value);
  }
  if (typeof seed !== 'string') throw pythonError('TypeError', 'object supporting the buffer API required');
  return new PyRandom(hashHex(seed, 'sha512')).sample(list, size);
}

const prefixes: Readonly<Record<string, { ident: string; saltLength: number }>> = {
  sha512: { ident: '$6$', saltLength: 16 },
  sha256: { ident: '$5$', saltLength: 16 },
  blowfish: { ident: '$2b$12$', saltLength: 22 },
  md5: { ident: '$1$', saltLength: 8 },
  crypt: { ident: '', saltLength: 2 },
};

/** The hash of a password; schemes that Node does not support use the system's crypt(3) through perl. */
async function shadowHash(
  salt: string | null,
  password: string,
  algorithm: string,
  ctx: ModuleContext,
): Promise<string> {
  const known = Object.hasOwn(prefixes, algorithm) ? prefixes[algorithm] : undefined;
  if (!known) {
    const list = `[${Object.keys(prefixes)
      .map((name) => `'${name}'`)
      .join(', ')}]`;
    throw invocationError(
      `Cannot hash using '${algorithm}' hash algorithm. Natively supported algorithms are: ${list}. If passlib is installed (False), the supported algorithms are: ${list}.`,
    );
  }
  const prefix = algorithm === 'blowfish' && salt?.includes('$') ? '$2b$' : known.ident;
  const setting = prefix + (salt ?? randomSalt(known.saltLength));
  const own = cryptPassword(password, setting);
  if (own !== undefined) return own;
  const perl = which('perl');
  if (!perl) throw invocationError(`Cannot hash using '${algorithm}' hash algorithm: perl is not installed`);
  // Through standard input, so that the password never appears in a process list.
  const code = 'chomp(my $p = <STDIN>); chomp(my $s = <STDIN>); print crypt($p, $s) // "";';
  const { stdout } = await ctx.exec(perl, ['-e', code], { input: `${password}\n${setting}\n` });
  return stdout;
}

export default defineModule({
  name: 'random',
  doc: 'Random numbers, texts and choices, and password hashes.',
  reads: ['get_str', 'hash', 'str_encode', 'shadow_hash', 'rand_int', 'sample', 'shuffle'],
  functions: {
    get_str: fn({
      doc: 'A random text for passwords.',
      examples: ["salt '*' random.get_str 128", "salt '*' random.get_str 30 punctuation=False"],
      params: {
        length: p.int({ default: 20 }),
        chars: p.string({ default: null, doc: 'the characters to choose from, instead of the classes below' }),
        lowercase: p.bool({ default: true }),
        uppercase: p.bool({ default: true }),
        digits: p.bool({ default: true }),
        punctuation: p.bool({ default: true }),
        whitespace: p.bool({ default: false }),
        printable: p.bool({ default: false, doc: 'use all of these' }),
      },
      run(args) {
        const classes = [
          args.lowercase ? lower : '',
          args.uppercase ? lower.toUpperCase() : '',
          args.digits ? digits : '',
          args.punctuation ? punctuation : '',
          args.whitespace ? whitespace : '',
        ].join('');
        const letters = args.printable ? printable : args.chars || classes;
        if (letters === '') throw invocationError('No characters to choose from');
        return randomText(pyInt(args.length), letters);
      },
    }),
    hash: fn({
      doc: 'The hash of a value in hexadecimal.',
      examples: ["salt '*' random.hash 'I am a string' md5"],
      params: { value: p.scalar(), algorithm: p.string({ default: 'sha512' }) },
      run: ({ value, algorithm }) => hashHex(value, algorithm),
    }),
    str_encode: fn({
      doc: 'A text in base64.',
      examples: ["salt '*' random.str_encode 'I am a new string'"],
      params: { value: p.scalar(), encoder: p.string({ default: 'base64' }) },
      run({ value, encoder }) {
        if (encoder !== 'base64') throw invocationError('Value must be an encode-able string');
        return Buffer.from(bytesOf(value)).toString('base64');
      },
    }),
    shadow_hash: fn({
      doc: 'The hash of a password for /etc/shadow.',
      examples: ["salt '*' random.shadow_hash 'My5alT' 'MyP@asswd' md5"],
      params: {
        crypt_salt: p.string({ default: null, doc: 'random when not given' }),
        password: p.string({ default: null, doc: 'random when not given' }),
        algorithm: p.string({ default: 'sha512', doc: 'sha512, sha256, blowfish, md5 or crypt' }),
      },
      run: ({ crypt_salt, password, algorithm }, ctx) =>
        shadowHash(
          crypt_salt,
          password ?? randomText(20, lower + lower.toUpperCase() + digits + punctuation),
          algorithm,
          ctx,
        ),
    }),
    rand_int: fn({
      doc: 'A random whole number between two others, both included. The same seed gives the same number.',
      examples: ["salt '*' random.rand_int 1 10"],
      params: { start: p.int({ default: 1 }), end: p.int({ default: 10 }), seed: p.scalar({ default: null }) },
      run({ start, end, seed }) {
        if (end < start)
          throw pythonError('ValueError', `empty range for randrange() (${start}, ${end + 1}, ${end + 1 - start})`);
        return start + (seed === null ? randomInt(end - start + 1) : seeded(seed).below(end - start + 1));
      },
    }),
    seed: fn({
      doc: 'A number below a limit that is always the same for this minion (or for the given text).',
      examples: ["salt '*' random.seed", "salt '*' random.seed 10 hash=something"],
      params: { range: p.int({ default: 10 }), hash: p.scalar({ default: null }) },
      run: ({ range, hash }, ctx) => seeded(hash ?? dictGet(ctx.grains, 'id') ?? ctx.id).below(range),
    }),
    sample: fn({
      doc: 'Some members of a list, chosen at random, each at most once.',
      examples: ['salt \'*\' random.sample \'["one", "two"]\' 1 seed="something"'],
      params: { value: p.oneOf(['list', 'string']), size: p.int(), seed: p.scalar({ default: null }) },
      run: ({ value, size, seed }) => sample(value, size, seed),
    }),
    shuffle: fn({
      doc: 'A list in random order.',
      examples: ['salt \'*\' random.shuffle \'["one", "two"]\' seed="something"'],
      params: { value: p.oneOf(['list', 'string']), seed: p.scalar({ default: null }) },
      run: ({ value, seed }) => sample(value, (Array.isArray(value) ? value : [...value]).length, seed),
    }),
  },
});
