// Proxy type `ssh_sample`: a device whose shell answers commands with JSON, as an example of one over SSH. It uses the system's
// ssh; a password goes there through a file that only this user can read, and only while ssh runs.
import { join } from 'node:path';
import {
  asDict,
  asText,
  commandError,
  defineProxy,
  dictEntries,
  newDict,
  type PlainDict,
  type ProxyContext,
  type ProxyFunction,
  pyStr,
  type Value,
} from 'halite/sdk';
import { loadJson } from 'halite/sdk/codec';
import { mkdtemp, rm, writeFile } from 'halite/sdk/fs';

const timeoutMs = 30_000;
const mostBytes = 4 << 20;

/** The lines from the first with `{` to that with the last `}`. */
export function jsonIn(output: string): string {
  return output.slice(output.indexOf('{'), output.lastIndexOf('}') + 1);
}

/** One word of a command line of the device: it has no quoting, so what could be a second command is refused. */
function word(value: Value): string {
  const text = pyStr(value);
  if (/^[\w.+:~@%/-]+$/.test(text)) return text;
  throw commandError(`${JSON.stringify(text)} cannot be part of a command for the device`);
}

class SshDevice {
  readonly #ctx: ProxyContext;
  readonly #args: readonly string[];
  readonly #password: string | undefined;
  #grains: PlainDict | undefined;

  constructor(settings: PlainDict, ctx: ProxyContext) {
    const text = (name: string): string | undefined => asText(settings[name]) || undefined;
    const host = text('host');
    if (!host || host.startsWith('-')) throw commandError('The pillar of an ssh_sample proxy needs proxy:host');
    const { port } = settings;
    const key = text('priv');
    this.#ctx = ctx;
    this.#password = text('password');
    this.#args = [
      '-T',
      ...['-o', `BatchMode=${this.#password ? 'no' : 'yes'}`, '-o', 'NumberOfPasswordPrompts=1'],
      ...['-o', `ConnectTimeout=${timeoutMs / 2000}`],
      ...(settings['ignore_host_key'] === true
        ? ['-o', 'StrictHostKeyChecking=no', '-o', 'UserKnownHostsFile=/dev/null']
        : []),
      ...(typeof port === 'number' ? ['-p', String(port)] : []),
      ...(key ? ['-i', key, '-o', 'IdentitiesOnly=yes'] : []),
      ...['-l', text('username') ?? 'root', '--', host],
    ];
  }

  /** Sends one command line and returns the map in what the device prints. */
  async ask(...words: readonly Value[]): Promise<PlainDict> {
    const value = asDict(loadJson(jsonIn(await this.say(words.map(word).join(' ')))) as Value);
    if (!value) throw commandError(`The device answered ${pyStr(words[0] ?? null)} with something other than a map`);
    return newDict(dictEntries(value).map(([key, item]) => [pyStr(key), item]));
  }

  async say(line: string): Promise<string> {
    const folder = this.#password === undefined ? undefined : await writeAnswer(this.#password);
    // Without a password nobody is asked for one.
    const env: Record<string, string> = folder
      ? { SSH_ASKPASS: join(folder, 'answer'), SSH_ASKPASS_REQUIRE: 'force', DISPLAY: ':0' }
      : {};
    const options = { input: `${line}\nexit\n`, env, timeoutMs, maxOutputBytes: mostBytes };
    const { retcode, stdout, stderr } = await this.#ctx
      .exec('ssh', this.#args, options)
      .finally(() => folder && rm(folder, { recursive: true, force: true }));
    // 255 is ssh's own; the device's shell may end with any other.
    if (retcode === 255) throw commandError(`The device cannot be reached: ${stderr.trim().split('\n').at(-1) ?? ''}`);
    return stdout;
  }

  async grains(fresh: boolean): Promise<PlainDict> {
    if (fresh) this.#grains = undefined;
    this.#grains ??= await this.ask('info');
    return this.#grains;
  }

  async ping(): Promise<boolean> {
    return this.say('help').then(
      () => true,
      () => false,
    );
  }
}

/** A program that ssh runs to ask for the password. */
async function writeAnswer(password: string): Promise<string> {
  const folder = await mkdtemp('/tmp/halite-ssh-sample-');
  await writeFile(join(folder, 'password'), `${password}\n`, { mode: 0o600 });
  await writeFile(join(folder, 'answer'), '#!/bin/sh\nexec cat "$(dirname "$0")/password"\n', { mode: 0o700 });
  return folder;
}

function functionsOf(device: SshDevice): Record<string, ProxyFunction> {
  const named =
    (verb: string): ProxyFunction =>
    ([name = null]) =>
      device.ask(verb, name);
  return {
    ping: () => device.ping(),
    alive: () => device.ping(),
    initialized: () => true,
    grains: () => device.grains(false),
    grains_refresh: () => device.grains(true),
    fns: () => newDict([['details', 'made by the function fns of the proxy type']]),
    package_list: () => device.ask('pkg_list'),
    package_install: ([name = null], { version }) => device.ask('pkg_install', name, ...(version ? [version] : [])),
    package_remove: named('pkg_remove'),
    service_list: () => device.ask('ps'),
    service_start: named('start'),
    service_stop: named('stop'),
    service_restart: named('restart'),
  };
}

export default defineProxy({
  name: 'ssh_sample',
  doc: 'A device whose shell takes `pkg_list`, `pkg_install NAME`, `ps`, `start NAME` and `info` over SSH: an example.',
  examples: ['proxy:\n  proxytype: ssh_sample\n  host: 192.0.2.8\n  username: operator\n  password: secret'],
  async open(settings, ctx) {
    const device = new SshDevice(settings, ctx);
    await device.say('help');
    return { functions: functionsOf(device), close: () => undefined };
  },
});
