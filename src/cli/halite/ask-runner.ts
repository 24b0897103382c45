// Calls one runner of the running master and returns its result.
import { readValue } from '../../base/codec/json/index.ts';
import type { PlainDict, Value } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { connectLocal } from '../../engine/client/local.ts';

export async function askRunner(
  configDir: string,
  fun: string,
  args: readonly Value[],
  kwargs: PlainDict,
): Promise<Value> {
  const client = await connectLocal(loadClientConfig({ configDir }).opts);
  try {
    for await (const item of client.runner(fun, args, kwargs)) {
      if (item.type === 'result') return readValue(item.ret);
    }
    throw new HaliteError('daemon.unreachable', 'The master did not answer');
  } finally {
    client.close();
  }
}
