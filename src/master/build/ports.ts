// Opens the request port and the publish port.
import { setTimeout as sleep } from 'node:timers/promises';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { Tally } from '../../base/metrics/index.ts';
import type {
  PublishServer,
  RequestServer,
  TlsOptions,
  Transport,
  WireProblem,
} from '../../protocol/wire/transport.ts';
import type { KeyStore } from '../../store/keys.ts';
import type { Fleet } from '../fleet/fleet.ts';
import type { Publisher } from '../publish/publisher.ts';
import type { RequestPort } from '../requests/port.ts';
import type { Secrets } from '../sign-in/secrets.ts';
import { tcpIdentity } from '../sign-in/tcp-identity.ts';

export interface PortParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly keys: KeyStore;
  readonly secrets: Secrets;
  readonly fleet: Fleet;
  readonly publisher: Publisher;
  readonly requestPort: RequestPort;
}

type ProblemKind = WireProblem['kind'];
const problemKinds: readonly ProblemKind[] = ['malformed', 'too-large', 'slow', 'idle', 'handler', 'overload'];

export interface Ports {
  /** What peers did wrong. */
  readonly problems: Tally<ProblemKind>;
  readonly publish: PublishServer;
  readonly requests: RequestServer;
  /** Nobody can connect for so long, and nobody is connected. */
  cut(ms: number): Promise<void>;
  close(): Promise<void>;
}

/**
 * A real 3007 minion that lost its master over TCP dials both ports again every second. When its former subscription comes
 * up before the new one has signed in, it signs in by both at once, fails inside, and never answers again until it is
 * restarted. Therefore the request port is open a little longer than that second before the publish port.
 */
const signInMs = 1_500;
const againMs = 500;

/** Largest accepted request; larger results must be transferred with the file functions. */
const maxRequestBytes = 64 * 1024 * 1024;

export async function openPorts(transport: Transport, parts: PortParts): Promise<Ports> {
  const { opts, log, keys, secrets, fleet, publisher, requestPort } = parts;
  const tls = opts.ssl as unknown as TlsOptions | true | null;
  const problems = new Tally<ProblemKind>(problemKinds);
  const common = {
    interface: opts.interface,
    ipv6: Boolean(opts.ipv6),
    backlog: opts.zmq_backlog,
    ...(tls ? { tls } : {}),
    maxMessageBytes: maxRequestBytes,
    onProblem: ({ kind, peer, detail }: WireProblem) => {
      problems.add(kind);
      log.limited(`wire:${kind}`, 'warn', 'a peer violated the protocol', { kind, peer, why: detail });
    },
  };
  const open = async (): Promise<OpenPorts> => {
    const requests = await transport
      .listenRequests({ ...common, port: opts.ret_port }, (request) => requestPort.accept(request))
      .catch((error: unknown) => portError('ret_port', opts.ret_port, error));
    if (transport.name === 'tcp') await sleep(signInMs);
    const publish = await transport
      .listenPublish({
        ...common,
        port: opts.publish_port,
        hwm: opts.pub_hwm,
        filtering: opts.zmq_filtering,
        syndics: opts.order_masters,
        identify: tcpIdentity({ secrets, keys }),
        provesPresence: (topic) => fleet.proves(topic),
        onSubscriber: (event) => fleet.subscriber(event),
      })
      .catch(async (error: unknown) => {
        await requests.close();
        return portError('publish_port', opts.publish_port, error);
      });
    return { requests, publish };
  };
  let ports = await open();
  const ending = new AbortController();
  /** Set while the ports are closed for a time. */
  let cutting: Promise<void> | undefined;
  const shut = async ({ requests, publish }: OpenPorts): Promise<void> => {
    await requests.close();
    await publish.close();
  };
  publisher.attach({
    get port() {
      return ports.publish.port;
    },
    get connections() {
      return ports.publish.connections;
    },
    publish: (...message) => {
      if (!cutting) ports.publish.publish(...message);
    },
    close: async () => undefined,
  });
  const reopen = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      try {
        ports = await open();
        return;
      } catch (error) {
        log.limited('reopen', 'error', 'the ports cannot be opened again yet', { error: messageOf(error) });
        await sleep(againMs, undefined, { signal: ending.signal }).catch(() => undefined);
      }
    }
  };
  return {
    problems,
    get publish() {
      return ports.publish;
    },
    get requests() {
      return ports.requests;
    },
    cut: async (ms) => {
      cutting ??= (async () => {
        await shut(ports);
        await sleep(ms, undefined, { signal: ending.signal }).catch(() => undefined);
        await reopen();
      })().finally(() => {
        cutting = undefined;
      });
      await cutting;
    },
    close: async () => {
      ending.abort();
      await cutting;
      await shut(ports);
    },
  };
}

interface OpenPorts {
  readonly requests: RequestServer;
  readonly publish: PublishServer;
}

function portError(option: string, port: number, error: unknown): never {
  throw new HaliteError('daemon.running', `cannot listen on ${option} ${port}: ${messageOf(error)}`, {
    hint: 'Another master may be running here; stop it, or choose other ports in the master configuration.',
    cause: error,
  });
}
