// One HTTP request for `http_yaml` and `http_json`, with the minion's id and grains in the address.
import { type Dict, dictEntries, isDict, type PillarContext, pyStr, type Value } from 'halite/sdk';
import { traverse } from 'halite/sdk/data';

export interface HttpArgs {
  readonly url: string;
  readonly with_grains: boolean;
  readonly header_dict: Dict | null;
  readonly auth: Value;
  readonly username: string | null;
  readonly password: string | null;
}

const timeoutMs = 30_000;
const maxBytes = 32 * 1024 * 1024;

/** Python's urllib.parse.quote(): a slash stays. */
const quote = (text: string): string =>
  encodeURIComponent(text)
    .replace(/[!'()*]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll('%2F', '/');

/** The address with %s and <grain> filled in; undefined when a grain is missing. */
function addressFor(args: HttpArgs, ctx: PillarContext): string | undefined {
  let url = args.url.replaceAll('%s', () => quote(ctx.minionId));
  if (!args.with_grains) return url;
  for (const [whole, name = ''] of [...url.matchAll(/<(.*?)>/g)]) {
    const value = traverse(ctx.grains, name);
    if (value === undefined || value === null || value === '' || value === 0 || value === false) {
      ctx.log.error(`Unable to get minion '${ctx.minionId}' grain: ${name}`);
      return undefined;
    }
    // Minions say what their grains are: one that climbs out of the path would ask for what belongs to others.
    if (
      pyStr(value)
        .split('/')
        .some((part) => part === '.' || part === '..')
    ) {
      ctx.log.error(`The grain ${name} of minion '${ctx.minionId}' cannot be part of an address`);
      return undefined;
    }
    url = url.replaceAll(whole, () => quote(pyStr(value)));
  }
  return url;
}

/** The text behind the address; undefined when it cannot be had, which the log tells. */
export async function fetchText(args: HttpArgs, ctx: PillarContext): Promise<string | undefined> {
  const url = addressFor(args, ctx);
  if (url === undefined) return undefined;
  const limit = AbortSignal.timeout(timeoutMs);
  const signal = ctx.signal ? AbortSignal.any([ctx.signal, limit]) : limit;
  try {
    const reply = await fetch(url, { headers: headersOf(args), signal });
    if (reply.ok) return await readText(reply);
    ctx.log.error(`Error on minion '${ctx.minionId}' http query: ${url}`, { status: reply.status });
  } catch (error) {
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    ctx.log.error(`Error on minion '${ctx.minionId}' http query: ${url}`, { error: String(cause) });
  }
  return undefined;
}

async function readText(reply: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  for await (const piece of reply.body ?? []) {
    size += piece.length;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    pieces.push(piece);
  }
  return Buffer.concat(pieces).toString('utf8');
}

function headersOf({ header_dict, username, password, auth }: HttpArgs): Headers {
  const headers = new Headers();
  if (isDict(header_dict)) for (const [name, value] of dictEntries(header_dict)) headers.set(pyStr(name), pyStr(value));
  const [user, secret] =
    Array.isArray(auth) && auth.length === 2 ? [pyStr(auth[0]), pyStr(auth[1])] : [username, password];
  if (user !== null && secret !== null && user !== undefined && secret !== undefined) {
    headers.set('authorization', `Basic ${Buffer.from(`${user}:${secret}`).toString('base64')}`);
  }
  return headers;
}
