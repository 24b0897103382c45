// One HTTP request for `http_yaml` and `http_json`, with the minion's id and grains in the address.
import { type ArgsOf, dictEntries, messageOf, newDict, type PillarContext, p, pyStr } from 'halite/sdk';
import { traverse } from 'halite/sdk/data';
import { basicAuth, httpCall } from '../../shared/http/request.ts';

export const httpParams = {
  url: p.string({ doc: 'the address' }),
  with_grains: p.bool({ default: false, doc: 'replace grains in the address' }),
  header_dict: p.dict({ default: null, doc: 'headers to send' }),
  auth: p.list({ default: null, doc: 'user and password as a list' }),
  username: p.string({ default: null }),
  password: p.string({ default: null }),
};
export type HttpArgs = ArgsOf<typeof httpParams>;

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
    // Minions choose their grains: a grain with `..` could request the data of another minion.
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

/** The answer of the server; undefined on failure, which is logged. */
export async function fetchText(args: HttpArgs, ctx: PillarContext): Promise<string | undefined> {
  const url = addressFor(args, ctx);
  if (url === undefined) return undefined;
  try {
    const call = { service: 'the web server', url, headers: headersOf(args), redirects: 5, maxBytes };
    return (await httpCall({ ...call, ...(ctx.signal ? { signal: ctx.signal } : {}) })).text;
  } catch (error) {
    ctx.log.error(`Error on minion '${ctx.minionId}' http query: ${withoutCredentials(url)}`, {
      error: messageOf(error),
    });
  }
  return undefined;
}

const withoutCredentials = (url: string): string => url.replace(/\/\/[^/?#]*@/, '//');

function headersOf({ header_dict, username, password, auth }: HttpArgs): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const [name, value] of dictEntries(header_dict ?? newDict())) headers[pyStr(name).toLowerCase()] = pyStr(value);
  const [user, secret] =
    Array.isArray(auth) && auth.length === 2 ? [pyStr(auth[0]), pyStr(auth[1])] : [username, password];
  if (user !== null && secret !== null && user !== undefined && secret !== undefined)
    headers['authorization'] = basicAuth(user, secret);
  return headers;
}
