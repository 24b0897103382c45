// Entry point of salt-proxy.
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { MinionOpts } from '../../base/config/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import { JobPool } from '../../engine/exec/index.ts';
import { ProxyHost } from '../../engine/proxy/index.ts';
import { getSharedTransport, getTransport } from '../../protocol/wire/transports.ts';
import { MinionDaemon } from '../daemon.ts';
import { loadIdentity } from '../link/identity.ts';
import { lockMinion } from '../lock.ts';
import type { RunningMinion } from '../main.ts';
import { DeltaProxies } from './delta.ts';

/** Of many proxies together: each needs about as much memory as a minion. */
const deltaProcesses = 4;
const idleProcessMs = 20_000;

/**
 * Starts the proxy and returns once it is running; masters and the device are connected in the background. `load` gives the
 * options of another id, for deltaproxy.
 */
export async function runProxy(
  opts: MinionOpts,
  log: Logger,
  load: (id: string) => MinionOpts,
): Promise<RunningMinion> {
  if (opts.random_startup_delay > 0) await sleep(Math.random() * opts.random_startup_delay * 1000);
  const release = await lockMinion(opts.cachedir, opts.id, log);
  const isDelta = opts.raw['metaproxy'] === 'deltaproxy';
  const [identity, transport] = await Promise.all([
    loadIdentity(opts),
    isDelta ? getSharedTransport(opts.transport) : getTransport(opts.transport),
  ]);
  const newHost = (): ProxyHost =>
    new ProxyHost({ entry: fileURLToPath(bundleFile('proxy-process')), log: log.child('device') });
  const host = newHost();
  const entry = fileURLToPath(bundleFile('job-process'));
  const maxProcesses = opts.process_count_max > 0 ? opts.process_count_max : deltaProcesses;
  const pool = new JobPool({ entry, log: log.child('job'), maxProcesses, idleMs: idleProcessMs });
  const delta = isDelta
    ? new DeltaProxies({
        ...{ opts, log, identity, transport, pool, load, newHost },
        baseGrains: () => daemon.grains.now,
      })
    : undefined;
  const daemon: MinionDaemon = new MinionDaemon({
    ...{ opts, log, identity, transport },
    proxy: delta ? { host, pool: pool.share(opts.id), onSettled: () => void delta.start() } : { host },
  });
  let fatal: (error: Error) => void = () => undefined;
  const ended = new Promise<Error>((resolve) => {
    fatal = resolve;
  });
  await daemon.start(fatal);
  log.info('proxy started', { minion: opts.id, fingerprint: identity.fingerprint });
  const stop = async (): Promise<void> => {
    await delta?.stop();
    await daemon.stop();
    await pool.stop('leave');
    host.stop();
    release();
  };
  return { stop, ended, status: () => daemon.status() };
}
