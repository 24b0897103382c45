// `salt-run bootstrap.minion`: packaging/bootstrap.sh on another host, with packages from here, over ssh. What the host
// says about itself is trusted as far as the ssh connection is.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { dictOf, newDict, type Value } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import { loadMasterConfig } from '../../base/config/index.ts';
import { fingerprint } from '../../base/crypto/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import { Askpass } from '../../ssh/askpass.ts';
import { SshHost } from '../../ssh/host.ts';
import { ensureKey } from '../../ssh/key-deploy.ts';
import { sshFailure } from '../../ssh/reasons.ts';
import { around, quoted } from '../../ssh/scripts.ts';
import { readSettings, usesKey } from '../../ssh/settings.ts';
import { readTarget, type SshTarget } from '../../ssh/target.ts';
import { type Given, givenArguments, type LocalCall } from '../local-call.ts';
import { acceptKey } from './accept.ts';

const sums = 'SHA256SUMS';
const mostOutput = 1 << 20;
/** Names of files that `tar` and a shell on the host get: nothing that could be an option or a path. */
const packageName = /^halite-[\w.~+-]{1,200}$/;
const address = /^[\w.:[\]-]{1,255}$/;
const shownFingerprint = /fingerprint of this minion: ([0-9a-f]{2}(?::[0-9a-f]{2}){15,63})$/m;

/** In an installed tree, in the packages, and in a checkout. */
function bootstrapScript(): string {
  const here = fileURLToPath(import.meta.url);
  const places = ['../../../../share/halite', '../packaging', '../../../packaging'];
  const found = places.map((place) => join(here, '..', place, 'bootstrap.sh')).find((path) => existsSync(path));
  if (!found) throw new HaliteError('config.value', 'bootstrap.sh is not part of this installation');
  return found;
}

interface Remote {
  readonly target: SshTarget;
  readonly host: SshHost;
  readonly call: LocalCall;
}

interface Order {
  /** Files that the command gets as a tar archive on its standard input: names by folder. */
  readonly files?: Readonly<Record<string, readonly string[]>>;
  readonly root?: boolean;
  readonly show?: boolean;
}

/** Runs a script on the host to its end; returns what it printed. Throws when it failed. */
async function perform({ target, host, call }: Remote, script: string, words: readonly string[], order: Order) {
  const command = ['/bin/sh', '-c', quoted(script), 'bootstrap', ...words.map(quoted)].join(' ');
  const sudo = order.root && target.sudo ? { user: target.sudoUser, password: false } : undefined;
  const process = host.connect(around(command, { ...target, sudo, tty: false }), false);
  let said = '';
  process.child.stdout.setEncoding('utf8').on('data', (text: string) => {
    if (order.show) call.io.out(text);
    said = (said + text).slice(-mostOutput);
  });
  if (order.files) {
    const args = Object.entries(order.files).flatMap(([folder, names]) => ['-C', folder, ...names]);
    const tar = spawn('tar', ['-c', '--owner=0', '--group=0', ...args], { stdio: ['ignore', 'pipe', 'ignore'] });
    tar.once('error', (error) => process.child.stdin.destroy(error));
    tar.stdout.pipe(process.child.stdin);
  } else process.child.stdin.end();
  const status = await process.ended;
  if (status === 0) return said;
  if (status === 255) {
    const { stderr } = sshFailure(status, process.errors, host.asked);
    throw new HaliteError('daemon.unreachable', `${target.id} cannot be reached over ssh: ${stderr.trim()}`, {
      hint: 'Try it with: salt-ssh -r, or ssh. A host key that is not known yet: ignore_host_keys=True',
    });
  }
  throw new HaliteError('call.failed', `${target.id}: ${process.errors.trim() || `it ended with code ${status}`}`);
}

/** Makes the folder there; prints it, and where the connection comes from, and the packages that fit. */
const look = [
  'umask 077;',
  'd=$(mktemp -d /var/tmp/halite-bootstrap-XXXXXX) || exit 1;',
  'printf "%s\\n%s\\n" "$d" "$(echo "$SSH_CONNECTION" | cut -d " " -f 1)";',
  'tar -x -C "$d" && sh "$d/bootstrap.sh" --from "$d" --list "$@" && exit 0;',
  'r=$?; rm -rf "$d"; exit $r',
].join(' ');
const fill = 'd=$1; tar -x -C "$d" && exit 0; r=$?; rm -rf "$d"; exit $r';
/** The folder belongs to the user of ssh; root reads it. */
const install = 'd=$1; shift; sh "$d/bootstrap.sh" --from "$d" "$@"; r=$?; rm -rf "$d"; exit $r';
const clean = 'case $1 in /var/tmp/halite-bootstrap-*) rm -rf "$1" ;; esac';

async function work(remote: Remote, given: Given, pem: string, dryRun: boolean): Promise<number> {
  const { target, call } = remote;
  const { opts } = loadMasterConfig({ configDir: call.configDir });
  const folder = given.text('packages');
  if (!existsSync(join(folder, sums)))
    throw new HaliteError('config.value', `There are no packages in ${folder}: ${sums} is missing`, {
      hint: 'Put the files of a release there, or name their folder: packages=…',
    });
  const script = bootstrapScript();
  const version = given.text('version') === '' ? [] : ['--version', given.text('version')];
  const first = await perform(remote, look, [...version, 'minion'], {
    files: { [join(script, '..')]: ['bootstrap.sh'], [folder]: [sums] },
  });
  const [place = '', from = '', ...names] = first.trimEnd().split('\n');
  if (!/^\/var\/tmp\/halite-bootstrap-\w+$/.test(place))
    throw new HaliteError('call.failed', `${target.id} answered with what bootstrap.sh does not say`);
  try {
    return await putMinion({ remote, given, pem, dryRun, place, from, names, hash: opts.hash_type });
  } finally {
    await perform(remote, clean, [place], { root: true }).catch(() => undefined);
  }
}

interface Found {
  readonly remote: Remote;
  readonly given: Given;
  readonly pem: string;
  readonly dryRun: boolean;
  /** The folder there, where its connection comes from, and the packages that it wants. */
  readonly place: string;
  readonly from: string;
  readonly names: readonly string[];
  readonly hash: string;
}

async function putMinion({ remote, given, pem, dryRun, place, from, names, hash }: Found): Promise<number> {
  const { target, call } = remote;
  const folder = given.text('packages');
  if (names.length === 0 || names.some((name) => !packageName.test(name) || !existsSync(join(folder, name))))
    throw new HaliteError('call.failed', `${target.id} wants packages that are not in ${folder}`);
  const master = given.text('master') || from;
  if (!address.test(master))
    throw new HaliteError('call.arguments', `master=${JSON.stringify(master)} is not an address of this master`);
  const version = given.text('version') === '' ? [] : ['--version', given.text('version')];
  const options = ['--master', master, '--finger', fingerprint(pem, hash), '--id', target.id, ...version];
  if (dryRun) {
    call.io.out(`${target.id}: would send ${names.join(', ')}\n`);
    call.io.out(`${target.id}: would run bootstrap.sh ${options.join(' ')} minion\n`);
    return exitCodes.ok;
  }
  call.io.out(`${target.id}: sending ${names.join(', ')}\n`);
  await perform(remote, fill, [place], { files: { [folder]: names } });
  const said = await perform(remote, install, [place, ...options, 'minion'], { root: true, show: true });
  if (!given.flag('accept')) return exitCodes.ok;
  const [, finger] = shownFingerprint.exec(said) ?? [];
  if (finger === undefined)
    throw new HaliteError('call.failed', `${target.id} did not tell the fingerprint of its minion`);
  const client = loadClientConfig({ configDir: call.configDir }).opts;
  await acceptKey({ opts: client, io: call.io, id: target.id, finger });
  return exitCodes.ok;
}

export async function bootstrapMinion(fun: string, call: LocalCall): Promise<number> {
  const given = await givenArguments(fun, call);
  const { opts } = loadMasterConfig({ configDir: call.configDir });
  const wanted = newDict(Object.entries(opts.raw));
  if (given.flag('ignore_host_keys')) wanted['ignore_host_keys'] = true;
  if (given.text('ssh') !== '') wanted['ssh_config_file'] = given.text('ssh');
  const settings = readSettings(wanted);
  const entry: [string, Value][] = [['host', given.text('host')]];
  for (const name of ['user', 'priv']) if (given.text(name) !== '') entry.push([name, given.text(name)]);
  const port = given.number('port');
  if (port !== undefined) entry.push(['port', port]);
  if (given.flag('sudo')) entry.push(['sudo', true]);
  const target = readTarget(given.text('id') || given.text('host'), dictOf(entry), settings.defaults);
  const pem = readFileSync(join(opts.pki_dir, 'master.pub'), 'utf8');
  if (usesKey(target.priv)) await ensureKey(target.priv);
  const askpass = new Askpass();
  const host = await SshHost.open(target, settings.client, askpass);
  try {
    return await work({ target, host, call }, given, pem, call.dryRun || given.flag('dry_run'));
  } finally {
    host.close();
    askpass.close();
  }
}
