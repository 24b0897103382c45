// One host of a roster, with everything that is known about reaching it. Read once; unknown fields are left out.
import { boolField, dictField, intField, listField, textField } from '../base/codec/fields.ts';
import { pyStr } from '../base/codec/python/repr.ts';
import { type Dict, dictEntries, dictGet, dictOf, isDict, newDict, type Value } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { isValidMinionId } from '../base/util/valid-id.ts';

export interface SshTarget {
  readonly id: string;
  readonly host: string;
  readonly user: string;
  readonly port: number | undefined;
  readonly passwd: string;
  /** Path of a key, `agent-forwarding` for none. */
  readonly priv: string;
  readonly privPasswd: string;
  readonly sudo: boolean;
  readonly sudoUser: string;
  readonly sudoPasswd: string;
  readonly tty: boolean;
  /** Seconds to wait for the connection. */
  readonly timeout: number;
  readonly identitiesOnly: boolean;
  readonly sshOptions: readonly string[];
  readonly forwards: readonly string[];
  readonly thinDir: string;
  readonly minionOpts: Dict;
  readonly grains: Dict;
  readonly mineFunctions: Value;
  /** Octal digits. */
  readonly umask: string;
  readonly setPath: string;
  readonly preFlight: string;
  readonly preFlightArgs: readonly string[];
  readonly keepFolder: boolean;
}

/** What entries that do not say it themselves get. */
export type TargetDefaults = Pick<
  SshTarget,
  | 'user'
  | 'port'
  | 'passwd'
  | 'priv'
  | 'privPasswd'
  | 'sudo'
  | 'sudoUser'
  | 'timeout'
  | 'identitiesOnly'
  | 'sshOptions'
  | 'forwards'
  | 'thinDir'
>;

const wrong = (id: string, what: string): HaliteError =>
  new HaliteError('config.value', `The roster entry of ${id} has ${what}`);

/** YAML reads digits as a number, also those of a password. */
function text(entry: Dict, name: string): string | undefined {
  const value = dictGet(entry, name);
  return typeof value === 'string' ? value : value === null || value === undefined ? undefined : pyStr(value);
}

function texts(entry: Dict, name: string): readonly string[] | undefined {
  const list = listField(entry, name);
  if (list) return list.map((item) => pyStr(item));
  const one = textField(entry, name);
  return one === undefined ? undefined : [one];
}

function flag(entry: Dict, name: string): boolean | undefined {
  const value = dictGet(entry, name);
  if (value === undefined || value === null) return undefined;
  return typeof value === 'string' ? !/^(false|no|off|)$/i.test(value) : value !== false && value !== 0;
}

/** Octal digits, as YAML 1.1 (`077`) or Python (`0o77`) write them. */
function umaskOf(entry: Dict): string {
  const value = dictGet(entry, 'cmd_umask');
  if (typeof value === 'number') return value.toString(8);
  return typeof value === 'string' ? (/^(?:0o)?([0-7]{1,4})$/.exec(value)?.[1] ?? '') : '';
}

/** What a shell reads as more than a word: ssh puts the host into commands of its configuration, such as a proxy's. */
const forShell = /[\s'"`$\\;&<>|(){}]/;

/** Words of one command line; none may end it or hide something. */
function clean(id: string, name: string, value: string): string {
  if (/[\p{Cc}]/u.test(value)) throw wrong(id, `control characters in ${name}`);
  return value;
}

function portOf(id: string, entry: Dict): number | undefined {
  const given = text(entry, 'port');
  if (given === undefined || given === '') return undefined;
  const port = Number(given);
  if (!Number.isInteger(port) || port < 1 || port > 65_535) throw wrong(id, `port ${given}, which is not one`);
  return port;
}

export function readTarget(id: string, given: Value, defaults: TargetDefaults): SshTarget {
  const entry = isDict(given) ? given : dictOf([['host', given]]);
  if (!isValidMinionId(id)) throw wrong(String(id).slice(0, 100), 'an id that is not acceptable');
  if (boolField(entry, 'winrm')) throw wrong(id, 'winrm, which Halite does not have');
  const host = clean(id, 'host', text(entry, 'host') || id).replace(/^\[(.*)\]$/, '$1');
  if (host === '' || host.startsWith('-') || forShell.test(host))
    throw wrong(id, 'a host that is not a name or an address');
  const forwards = textField(entry, 'remote_port_forwards');
  return {
    ...{ id, host },
    user: clean(id, 'user', text(entry, 'user') ?? defaults.user),
    port: portOf(id, entry) ?? defaults.port,
    passwd: text(entry, 'passwd') ?? defaults.passwd,
    priv: clean(id, 'priv', text(entry, 'priv') ?? defaults.priv),
    privPasswd: text(entry, 'priv_passwd') ?? defaults.privPasswd,
    sudo: flag(entry, 'sudo') ?? defaults.sudo,
    sudoUser: clean(id, 'sudo_user', text(entry, 'sudo_user') ?? defaults.sudoUser),
    sudoPasswd: text(entry, 'sudo_passwd') ?? '',
    tty: flag(entry, 'tty') ?? false,
    timeout: Math.max(1, intField(entry, 'timeout') ?? defaults.timeout),
    identitiesOnly: flag(entry, 'identities_only') ?? defaults.identitiesOnly,
    sshOptions: (texts(entry, 'ssh_options') ?? defaults.sshOptions).map((option) => clean(id, 'ssh_options', option)),
    forwards: forwards === undefined ? defaults.forwards : forwards.split(','),
    thinDir: clean(id, 'thin_dir', text(entry, 'thin_dir') ?? defaults.thinDir),
    minionOpts: dictField(entry, 'minion_opts') ?? newDict(),
    grains: dictField(entry, 'grains') ?? newDict(),
    mineFunctions: dictGet(entry, 'mine_functions') ?? null,
    umask: umaskOf(entry),
    setPath: clean(id, 'set_path', text(entry, 'set_path') ?? ''),
    preFlight: text(entry, 'ssh_pre_flight') ?? '',
    preFlightArgs: preFlightArgsOf(entry),
    keepFolder: flag(entry, 'disable_wipe') ?? false,
  };
}

/** A text is one shell word list in Salt, a list is words. */
function preFlightArgsOf(entry: Dict): readonly string[] {
  const list = listField(entry, 'ssh_pre_flight_args');
  if (list) return list.map((item) => pyStr(item));
  const words = textField(entry, 'ssh_pre_flight_args')?.trim() ?? '';
  return words === '' ? [] : words.split(/\s+/);
}

/** Entries over the defaults of the configuration (`roster_defaults`). */
export function withDefaults(entry: Value, defaults: Value | undefined): Value {
  const own = isDict(entry) ? entry : dictOf([['host', entry]]);
  return isDict(defaults) ? dictOf([...new Map([...dictEntries(defaults), ...dictEntries(own)])]) : own;
}
