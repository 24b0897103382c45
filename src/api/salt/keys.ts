// `/keys`: lists and fingerprints, and new keys for a minion as an archive.
import { textField } from '../../base/codec/fields.ts';
import { readValue } from '../../base/codec/json/index.ts';
import { asText, fieldOf, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import { minionIdProblem } from '../../base/util/valid-id.ts';
import type { Api } from '../api.ts';
import { bodyValue } from '../http/body.ts';
import { ApiError } from '../http/errors.ts';
import type { Exchange } from '../http/exchange.ts';
import { tarOf } from '../http/tar.ts';
import type { Item } from '../lowstate/call.ts';
import { chunksOf, credentialsIn, flagOf, numberOf } from '../lowstate/chunk.ts';
import { runChunks } from '../lowstate/run.ts';
import type { Caller } from '../master.ts';
import { runFor } from './minions.ts';

const wheelResult = ([first]: readonly Item[]): Value | undefined =>
  fieldOf(fieldOf(readValue(first ?? null), 'data'), 'return');

export async function keys(api: Api, exchange: Exchange, caller: Caller, id: string): Promise<void> {
  const call = id ? { fun: 'key.finger', match: id } : { fun: 'key.list_all' };
  const chunk = newDict(Object.entries({ client: 'wheel', ...call }));
  const items = await runFor(api, exchange, caller, chunksOf(chunk));
  exchange.send({ value: newDict([['return', wheelResult(items) ?? newDict()]]) });
}

export async function generateKeys(api: Api, exchange: Exchange, rest: string): Promise<void> {
  if (rest !== '') throw new ApiError(404, 'Nothing matches the given URI');
  const body = await exchange.body();
  const [fields] = body ? chunksOf(bodyValue(body)) : [];
  if (!fields) throw new ApiError(400, 'Keys need the id of the minion (mid)');
  const id = textField(fields, 'mid') ?? textField(fields, 'id_');
  if (id === undefined) throw new ApiError(400, 'Keys need the id of the minion (mid)');
  if (minionIdProblem(id)) throw new ApiError(400, `${JSON.stringify(id.slice(0, 128))} is no id of a minion`);
  const credentials = credentialsIn(fields);
  const { master, settings, limits } = api;
  const parts = { master, settings, from: exchange.peer.address, signal: exchange.signal };
  const made = await limits.run(`address ${exchange.peer.address}`, () =>
    runChunks(parts, [keyCall(id, fields)], () => credentials),
  );
  const found = wheelResult(made);
  const [pub, priv] = ['pub', 'priv'].map((name) => asText(fieldOf(found, name)) ?? '');
  if (typeof found === 'string' && /too weak/.test(found)) throw new ApiError(400, found.slice(0, 300));
  if (!pub || !priv)
    throw new ApiError(409, `A key of ${id} exists already`, {
      hint: `Use force to replace it. (${typeof found === 'string' ? found.slice(0, 300) : 'The master made no key'})`,
    });
  exchange.sendRaw({
    bytes: tarOf([
      { name: 'minion.pub', mode: 0o644, text: pub },
      { name: 'minion.pem', mode: 0o600, text: priv },
    ]),
    headers: {
      'Content-Type': 'application/x-tar',
      'Content-Disposition': `attachment; filename="saltkeys-${id}.tar"`,
      'Cache-Control': 'no-cache, no-store',
    },
  });
}

function keyCall(id: string, fields: PlainDict): PlainDict {
  const size = numberOf(fields['keysize']);
  if (size === undefined && fields['keysize'] !== undefined) throw new ApiError(400, 'The keysize must be a number');
  return newDict([
    ['client', 'wheel'],
    ['fun', 'key.gen_accept'],
    ['id_', id],
    ...(size === undefined ? [] : [['keysize', size] as const]),
    ...(flagOf(fields['force']) ? [['force', true] as const] : []),
  ]);
}
