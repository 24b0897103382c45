// `halite cluster nats`: configuration and unit for the nats-server of this machine.
import { existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { HaliteError } from '../../../base/errors/index.ts';
import { replaceFileNow } from '../../../base/util/replace-file.ts';
import { findNatsServer, serverConfig } from '../../../engine/cluster/nats-server/config.ts';
import { readClusterOptions } from '../../../engine/cluster/options.ts';
import type { ClusterWork } from './init.ts';

const clientPort = 4222;
const routePort = 6222;
const unitFolder = '/etc/systemd/system';
const hostForm = /^[A-Za-z0-9][\w.-]*$/;

export async function natsFiles({ opts, words, dryRun, io, configDir }: ClusterWork): Promise<void> {
  const options = readClusterOptions(opts.cluster);
  if (!options) {
    throw new HaliteError('config.missing', 'The master configuration has no option `cluster`', {
      hint: 'Begin with: halite cluster init <name> <server>…',
    });
  }
  for (const host of words) {
    if (!hostForm.test(host)) throw new HaliteError('cli.usage', `this is no name of a host: ${host}`);
  }
  const [host, ...others] = words;
  const { program, version, syncAlways } = findNatsServer();
  const text = serverConfig({
    name: host ?? String(opts.id).replace(/_master$/, ''),
    cluster: options.name,
    listen: host === undefined ? options.listen : `${host}:${clientPort}`,
    store: '/var/lib/halite-nats',
    ...(host === undefined || others.length === 0
      ? {}
      : { routes: { listen: `${host}:${routePort}`, peers: [host, ...others].map((peer) => `${peer}:${routePort}`) } }),
    ...{ tls: options.tls, insecure: options.insecure, syncAlways },
  });
  const config = join(configDir, 'nats-server.conf');
  const unit = join(unitFolder, 'halite-nats.service');
  io.out(
    `Found ${program}, version ${version}${syncAlways ? '' : ': 2.12 or newer is recommended, it can write to disk before it answers'}.\n`,
  );
  const written = [
    { file: config, text, mode: 0o600 },
    { file: unit, text: unitText(program, config), mode: 0o644 },
  ];
  for (const { file, text: wanted, mode } of written) put(file, wanted, mode, dryRun, io);
  io.out('Then: systemctl daemon-reload && systemctl enable --now halite-nats\n');
}

function put(file: string, text: string, mode: number, dryRun: boolean, io: ClusterWork['io']): void {
  if (existsSync(file) && readFileSync(file, 'utf8') === text) {
    io.out(`${file} is as it should be.\n`);
    return;
  }
  if (dryRun) {
    io.out(`${file} would be written:\n\n${text.replaceAll(/^(?=.)/gm, '  ')}\n`);
    return;
  }
  mkdirSync(dirname(file), { recursive: true });
  replaceFileNow(file, text, mode);
  io.out(`${file} was written.\n`);
}

function unitText(program: string, config: string): string {
  return `# Written by halite cluster nats.
[Unit]
Description=nats-server of the Halite masters
After=network-online.target
Wants=network-online.target

[Service]
ExecStart=${program} -c ${config}
ExecReload=/bin/kill -HUP $MAINPID
Restart=always
RestartSec=2
StateDirectory=halite-nats
LimitNOFILE=65536
NoNewPrivileges=yes
ProtectSystem=full
ProtectHome=yes
PrivateTmp=yes

[Install]
WantedBy=multi-user.target
`;
}
