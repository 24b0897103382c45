// All members present one RSA key: minions know the master by it. A master with another one is not let in.
import { asText, type Value } from '../../base/codec/value.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import type { Cluster } from '../../engine/cluster/api.ts';
import type { MasterKeyPair } from '../sign-in/master-keys.ts';
import { readStep, stepKey } from './rollover-step.ts';
import { isConflict } from './secrets.ts';

/** The first member says which key it is. While the engine is away the member was checked at an earlier start. */
export async function checkMasterKey(cluster: Pick<Cluster, 'name' | 'registry'>, pair: MasterKeyPair): Promise<void> {
  const ours = fingerprint(pair.pem);
  const theirs = await keyOfCluster(cluster, ours);
  if (theirs === undefined || theirs === ours) return;
  const text = `This master has another key than the cluster ${cluster.name}: ${pair.file} has the fingerprint ${ours}, the other masters have ${theirs}`;
  throw new HaliteError('cluster.refused', text, {
    hint: 'Stop it, and let it join: "salt-run cluster.invite" on another master, "halite cluster join" here. Or copy master.pem and master.pub from another master.',
  });
}

async function keyOfCluster(cluster: Pick<Cluster, 'registry'>, ours: string): Promise<string | undefined> {
  const reg = cluster.registry.bucket<Value>('reg');
  try {
    // Each change of the key since then is told there.
    const step = readStep((await reg.get(stepKey))?.value);
    if (step) return step.presented;
    const entry = await reg.get('master-key');
    if (entry) return asText(entry.value);
    await reg.create('master-key', ours);
    return ours;
  } catch (error) {
    if (isConflict(error)) return asText((await reg.get('master-key'))?.value);
    if (error instanceof HaliteError && error.code === 'cluster.cut-off') return undefined;
    throw error;
  }
}
