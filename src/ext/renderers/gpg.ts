// Renderer `gpg`: decrypts PGP messages inside text or data with the system's gpg.
import { isUtf8 } from 'node:buffer';
import { dirname, join } from 'node:path';
import {
  type Dict,
  defineRenderer,
  dictEntries,
  dictOf,
  isDict,
  pyRepr,
  RenderError,
  type RendererContext,
  type Value,
} from 'halite/sdk';
import { markOrdered } from 'halite/sdk/codec';
import { gpgDecrypt, removeStaleLocks } from './shared/gpg.ts';

const message = /-----BEGIN PGP MESSAGE-----.*?-----END PGP MESSAGE-----/gs;
const begin = '-----BEGIN PGP MESSAGE-----';

/** Decrypted texts by message; only with the option `gpg_cache`, and never on disk. */
const known = new Map<string, { plain: Buffer; until: number }>();
const maxKnown = 5000;

/** The folder of the keys: the option, as `config.get` finds it, or `gpgkeys` beside the configuration. */
async function keyFolder(ctx: RendererContext): Promise<string> {
  const found = await ctx.call('config.get', 'gpg_keydir').catch(() => '');
  if (typeof found === 'string' && found !== '') return found;
  const { gpg_keydir, config_dir, conf_file } = ctx.opts;
  if (typeof gpg_keydir === 'string' && gpg_keydir !== '') return gpg_keydir;
  return join(typeof config_dir === 'string' ? config_dir : dirname(String(conf_file)), 'gpgkeys');
}

class Decrypter {
  readonly #ctx: RendererContext;
  #folder: Promise<string> | undefined;

  constructor(ctx: RendererContext) {
    this.#ctx = ctx;
  }

  async value(value: Value): Promise<Value> {
    if (typeof value === 'string') return this.#text(value);
    if (value instanceof Uint8Array) return this.#text(Buffer.from(value).toString('latin1'), 'latin1');
    if (Array.isArray(value)) return this.#all(value);
    return isDict(value) ? this.#dict(value) : value;
  }

  /** One message after the other: gpg-agent is not faster with parallel requests. */
  async #all(values: readonly Value[]): Promise<Value[]> {
    const done: Value[] = [];
    for (const value of values) done.push(await this.value(value));
    return done;
  }

  async #dict(dict: Dict): Promise<Dict> {
    const entries: [Value, Value][] = [];
    for (const [key, value] of dictEntries(dict)) entries.push([key, await this.value(value)]);
    return markOrdered(dictOf(entries));
  }

  async #text(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): Promise<Value> {
    if (!text.includes(begin)) return encoding === 'utf8' ? text : Buffer.from(text, encoding);
    const parts: Buffer[] = [];
    let at = 0;
    for (const found of text.matchAll(message)) {
      parts.push(Buffer.from(text.slice(at, found.index), encoding), await this.#message(found[0]));
      at = found.index + found[0].length;
    }
    if (at === 0) return encoding === 'utf8' ? text : Buffer.from(text, encoding);
    parts.push(Buffer.from(text.slice(at), encoding));
    return withoutFinalLineBreaks(Buffer.concat(parts));
  }

  async #message(armored: string): Promise<Buffer> {
    const { opts, signal, log } = this.#ctx;
    const cipher = armored.replaceAll('\\n', '\n');
    const cached = opts['gpg_cache'] === true ? known.get(cipher) : undefined;
    if (cached && cached.until > Date.now()) return cached.plain;
    this.#folder ??= keyFolder(this.#ctx);
    const folder = await this.#folder;
    await removeStaleLocks(folder);
    const { plain, said } = await gpgDecrypt(Buffer.from(cipher), folder, signal).catch(
      (error: NodeJS.ErrnoException) => {
        throw error.code === 'ENOENT' ? new RenderError('GPG unavailable', {}, { hint: 'Install gpg.' }) : error;
      },
    );
    if (plain.length === 0) {
      const text = `Could not decrypt cipher ${pyRepr(Buffer.from(cipher))}, received: ${pyRepr(said)}`;
      if (opts['gpg_decrypt_must_succeed'] !== false) throw new RenderError(text);
      log.warn(text);
      return Buffer.from(cipher);
    }
    this.#keep(cipher, plain);
    return plain;
  }

  #keep(cipher: string, plain: Buffer): void {
    const { opts } = this.#ctx;
    this.#ctx.keepSecret(plain.toString('utf8'));
    if (opts['gpg_cache'] !== true) return;
    if (known.size >= maxKnown) known.delete(known.keys().next().value as string);
    known.set(cipher, { plain, until: Date.now() + Number(opts['gpg_cache_ttl'] ?? 86_400) * 1000 });
  }
}

/** Salt drops trailing line breaks, because a message written as a YAML block ends in one. */
function withoutFinalLineBreaks(bytes: Buffer): Value {
  let end = bytes.length;
  while (end > 0 && bytes[end - 1] === 10) end--;
  const rest = bytes.subarray(0, end);
  return isUtf8(rest) ? rest.toString('utf8') : new Uint8Array(rest);
}

export default defineRenderer({
  name: 'gpg',
  doc: 'Decrypts every PGP message in the text, or in the texts of the data, with the keys in gpg_keydir.',
  input: 'any',
  output: 'same',
  render: (source, ctx) => new Decrypter(ctx).value(source),
});
