// Opens the publish port and the request port.
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
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

export interface Ports {
  readonly publish: PublishServer;
  readonly requests: RequestServer;
  close(): Promise<void>;
}

/** Largest accepted request; larger results must be transferred with the file functions. */
const maxRequestBytes = 64 * 1024 * 1024;

export async function openPorts(transport: Transport, parts: PortParts): Promise<Ports> {
  const { opts, log, keys, secrets, fleet, publisher, requestPort } = parts;
  const tls = opts.ssl as unknown as TlsOptions | true | null;
  const common = {
    interface: opts.interface,
    ipv6: Boolean(opts.ipv6),
    backlog: opts.zmq_backlog,
    ...(tls ? { tls } : {}),
    maxMessageBytes: maxRequestBytes,
    onProblem: ({ kind, peer, detail }: WireProblem) =>
      log.limited(`wire:${kind}`, 'warn', 'a peer violated the protocol', { kind, peer, why: detail }),
  };
  const publish = await transport
    .listenPublish({
      ...common,
      port: opts.publish_port,
      hwm: opts.pub_hwm,
      filtering: opts.zmq_filtering,
      identify: tcpIdentity({ secrets, keys }),
      provesPresence: (topic) => fleet.proves(topic),
      onSubscriber: (event) => fleet.subscriber(event),
    })
    .catch((error: unknown) => portError('publish_port', opts.publish_port, error));
  publisher.attach(publish);
  const requests = await transport
    .listenRequests({ ...common, port: opts.ret_port }, (request) => requestPort.accept(request))
    .catch(async (error: unknown) => {
      await publish.close();
      return portError('ret_port', opts.ret_port, error);
    });
  return {
    publish,
    requests,
    close: async () => {
      await requests.close();
      await publish.close();
    },
  };
}

function portError(option: string, port: number, error: unknown): never {
  throw new HaliteError('daemon.running', `cannot listen on ${option} ${port}: ${messageOf(error)}`, {
    hint: 'Another master may be running here; stop it, or choose other ports in the master configuration.',
    cause: error,
  });
}
