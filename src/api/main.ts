// salt-api: translates HTTP into calls on the master's local socket. It has no rights of its own: the master
// authenticates and authorizes every call by what the client sent.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MasterOpts } from '../base/config/index.ts';
import type { Logger } from '../base/log/index.ts';
import { certificateKeyName } from '../protocol/wire/messages/certificate.ts';
import { hookKeyName } from '../protocol/wire/messages/hook.ts';
import { AccessLog } from './access-log.ts';
import type { Api } from './api.ts';
import { ClientCertificates, certificateModule } from './client-certificates.ts';
import { dispatch } from './dispatch.ts';
import { Streams } from './events/streams.ts';
import { ServerFigures } from './figures.ts';
import { CallLimits } from './limits.ts';
import { Master } from './master.ts';
import { routesOf } from './salt/routes.ts';
import { upgradeToWebSocket } from './salt/ws.ts';
import { listen } from './server.ts';
import { readApiSettings } from './settings.ts';

const mostLogins = 64;

export interface RunningApi {
  stop(): Promise<void>;
}

export async function runApi(opts: MasterOpts, log: Logger): Promise<RunningApi> {
  const settings = readApiSettings(opts.raw);
  for (const name of settings.strangers) log.warn('this option of the API is unknown and has no effect', { name });
  if (settings.clients.size === 0)
    log.warn('netapi_enable_clients is empty: every call is refused until it names clients');
  if (!settings.tls && settings.hosts.some((host) => !/^(127\.|::1$|localhost$|unix:)/.test(host)))
    log.warn('disable_ssl is set and the API listens beyond this machine: passwords and tokens can be read on the way');
  if (settings.eauth.includes(certificateModule) && !settings.clientAuthorities)
    log.warn('nobody can log in with a certificate: that needs ssl_crt, ssl_key and ^ca_file of external_auth: pki');
  const master = new Master(opts.sock_dir);
  const api: Api = {
    ...{ settings, master, log },
    limits: new CallLimits(settings.threadPool, settings.queueSize),
    loginLimits: new CallLimits(mostLogins, mostLogins),
    streams: new Streams(master, settings.eventStreams),
    certificates:
      settings.clientAuthorities &&
      new ClientCertificates({
        ...{ keyFile: join(opts.cachedir, certificateKeyName), corsOrigin: settings.corsOrigin, log },
      }),
    figures: new ServerFigures(),
    accesses: settings.accessFile === undefined ? undefined : new AccessLog(settings.accessFile, log),
    hookKey: () => (settings.webhookDisableAuth ? readHookKey(opts.cachedir) : undefined),
  };
  const dispatcher = { api, routes: routesOf(api) };
  const listener = await listen(settings, log, {
    request: (request, response) => void dispatch(dispatcher, request, response),
    upgrade: (request, socket, head) => void upgradeToWebSocket(api, request, socket, head),
    certificates: api.certificates,
  });
  log.info('the API is ready', { addresses: listener.addresses.join(', '), tls: settings.tls !== undefined });
  const hangUp = (): void => {
    api.accesses?.reopen();
    listener.renew();
  };
  process.on('SIGHUP', hangUp);
  return {
    stop: async () => {
      process.off('SIGHUP', hangUp);
      await listener.close();
      api.accesses?.close();
      log.info('the API has stopped');
    },
  };
}

function readHookKey(cachedir: string): string | undefined {
  try {
    return readFileSync(join(cachedir, hookKeyName), 'utf8');
  } catch {
    return undefined;
  }
}
