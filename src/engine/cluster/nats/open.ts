// Opens the cluster on NATS.
import type { Cluster } from '../api.ts';
import { NatsCluster, type NatsParts } from './cluster.ts';

/** How long a master waits at its start for the cluster. */
const openMs = 15_000;

export async function openNatsCluster(parts: NatsParts): Promise<Cluster> {
  const cluster = new NatsCluster(parts);
  try {
    await cluster.open(openMs);
    return cluster;
  } catch (error) {
    await cluster.close();
    throw error;
  }
}
