// The chunks of a request, one after another: the first that fails decides the answer.
import type { PlainDict } from '../../base/codec/value.ts';
import { ApiError, fromMaster, noCredentials } from '../http/errors.ts';
import type { Credentials, Master } from '../master.ts';
import type { ApiSettings } from '../settings.ts';
import type { Item } from './call.ts';
import { clientFor } from './clients.ts';

export interface RunParts {
  readonly master: Master;
  readonly settings: ApiSettings;
  readonly from: string;
  readonly signal: AbortSignal;
}

/** Undefined: the chunk has none. Throws for a token that cannot be one. */
type CredentialsOf = (chunk: PlainDict) => Credentials | undefined;

export async function runChunks(
  parts: RunParts,
  chunks: readonly PlainDict[],
  credentialsOf: CredentialsOf,
): Promise<Item[]> {
  const items: Item[] = [];
  for (const [at, chunk] of chunks.entries()) {
    // Nobody waits for the rest any more.
    if (parts.signal.aborted) break;
    try {
      items.push(...(await runChunk(parts, chunk, credentialsOf)));
    } catch (error) {
      const known = fromMaster(error);
      if (!known || at === 0) throw known ?? error;
      throw new ApiError(known.status, known.message, { ...known.extras, done: at });
    }
  }
  return items;
}

async function runChunk(
  { master, settings, from, signal }: RunParts,
  chunk: PlainDict,
  credentialsOf: CredentialsOf,
): Promise<Item[]> {
  const credentials = credentialsOf(chunk);
  const client = await clientOf(master, chunk, settings, credentials);
  const session = master.session(credentials, from);
  try {
    return await client({ chunk, session, settings, signal });
  } finally {
    session.close();
  }
}

/** That the master is away is said before anything about the client: it is no fault of the request. */
async function clientOf(
  master: Master,
  chunk: PlainDict,
  settings: ApiSettings,
  credentials: Credentials | undefined,
): Promise<ReturnType<typeof clientFor>> {
  try {
    const client = clientFor(chunk, settings);
    if (credentials) return client;
  } catch (error) {
    await master.reach();
    throw error;
  }
  await master.reach();
  throw noCredentials();
}
