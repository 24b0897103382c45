// The settings of one run, from the configuration of the master and the command line.

import { createHash, randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isTruthy } from '../base/codec/python/index.ts';
import {
  asDict,
  asList,
  asNumber,
  asText,
  type Dict,
  newDict,
  type PlainDict,
  type Value,
} from '../base/codec/value.ts';
import { hostFullName } from '../base/config/host-names.ts';
import type { ClientOptions } from './client-options.ts';
import type { TargetDefaults } from './target.ts';

export interface SshSettings {
  readonly defaults: TargetDefaults;
  readonly client: ClientOptions;
  readonly maxProcs: number;
  readonly wipe: boolean;
  readonly fresh: boolean;
  readonly runPreFlight: boolean;
  readonly minionOpts: Dict;
  readonly grains: Dict;
}

const agentForwarding = 'agent-forwarding';

/** Salt's order: the configured key, the user's own, one of the master, which is made when it is missing. */
function privateKeyOf(opts: PlainDict): string {
  const home = join(homedir(), '.ssh', 'id_rsa');
  const own = join(asText(opts['pki_dir']) ?? '/etc/salt/pki/master', 'ssh', 'salt-ssh.rsa');
  const configured = asText(opts['ssh_priv']);
  if (configured) return configured;
  return opts['ssh_use_home_key'] === true && existsSync(home) ? home : own;
}

/** The first part of MD5 over DNS namespace and name: what Python's uuid3 gives, and so the name that Salt uses. */
function hostMark(name: string): string {
  const dns = Buffer.from('6ba7b8109dad11d180b400c04fd430c8', 'hex');
  const hash = createHash('md5').update(Buffer.concat([dns, Buffer.from(name)]));
  return hash.digest('hex').slice(0, 6);
}

/** The folder of a target, unless its entry names one; one for each user there and each master. */
export function folderFor(target: {
  readonly thinDir: string;
  readonly user: string;
  readonly sudo: boolean;
  readonly sudoUser: string;
}): string {
  if (target.thinDir !== '') return target.thinDir.replace(/(.)\/+$/, '$1');
  const user = target.sudo ? target.sudoUser || 'root' : target.user || 'root';
  return `/var/tmp/.${user.replaceAll('/', '_')}_${hostMark(hostFullName())}_salt`;
}

const number = (value: Value | undefined, otherwise: number): number => {
  const found = typeof value === 'string' ? Number(value) : asNumber(value);
  return found !== undefined && Number.isFinite(found) ? found : otherwise;
};

function keepAliveOf(opts: PlainDict): ClientOptions['keepAlive'] {
  if (opts['ssh_keepalive'] === false || opts['ssh_disable_keepalive'] === true) return undefined;
  return { interval: number(opts['ssh_keepalive_interval'], 60), countMax: number(opts['ssh_keepalive_count_max'], 3) };
}

const existing = (file: string | undefined): string => (file && existsSync(file) ? file : '');

/** Only one that was chosen: the user's own is what ssh reads anyway. */
function configFileOf(opts: PlainDict): string {
  const file = asText(opts['ssh_config_file']) ?? '';
  return file === '' || file === join(homedir(), '.ssh', 'config') ? '' : existing(file);
}

export function readSettings(opts: PlainDict): SshSettings {
  const text = (name: string): string => {
    const value = opts[name];
    return value === null || value === undefined ? '' : String(value);
  };
  const forwards = text('ssh_remote_port_forwards');
  const options = asList(opts['ssh_options'])?.map(String) ?? (text('ssh_options') ? [text('ssh_options')] : []);
  const port = number(opts['ssh_port'], 22);
  const fresh = opts['regen_thin'] === true;
  const random = opts['rand_thin_dir'] === true;
  return {
    defaults: {
      ...{ user: text('ssh_user') || 'root', port, passwd: text('ssh_passwd') },
      ...{ priv: privateKeyOf(opts), privPasswd: text('ssh_priv_passwd') },
      ...{ sudo: opts['ssh_sudo'] === true, sudoUser: text('ssh_sudo_user') },
      timeout: number(opts['ssh_timeout'], 60) + number(opts['timeout'], 5),
      identitiesOnly: opts['ssh_identities_only'] === true,
      sshOptions: options,
      forwards: forwards === '' ? [] : forwards.split(','),
      thinDir: random ? `/var/tmp/.${randomBytes(6).toString('hex')}` : '',
    },
    client: {
      ignoreHostKeys: opts['ignore_host_keys'] === true,
      noHostKeys: opts['no_host_keys'] === true,
      knownHosts: existing(asText(opts['known_hosts_file'])),
      configFile: configFileOf(opts),
      keepAlive: keepAliveOf(opts),
    },
    maxProcs: Math.max(1, number(opts['ssh_max_procs'], 25)),
    wipe: random || isTruthy(opts['ssh_wipe'] ?? null),
    fresh,
    runPreFlight: opts['ssh_run_pre_flight'] === true,
    minionOpts: asDict(opts['ssh_minion_opts']) ?? newDict(),
    grains: asDict(opts['ssh_grains']) ?? newDict(),
  };
}

export const usesKey = (priv: string): boolean => priv !== '' && priv !== agentForwarding;
