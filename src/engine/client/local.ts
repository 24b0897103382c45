// Calls over the master's unix socket; items are streamed back.

import { existsSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { textField } from '../../base/codec/fields.ts';
import { readValue } from '../../base/codec/json/index.ts';
import {
  asDict,
  asText,
  type Dict,
  dictEntries,
  dictGet,
  isDict,
  newDict,
  type PlainDict,
  type Value,
} from '../../base/codec/value.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { wireTexts } from '../../protocol/job/job.ts';
import { connectIpc, type IpcClient } from '../../protocol/wire/ipc.ts';
import { isProblem, type Problem } from '../../protocol/wire/messages/fields.ts';
import {
  type JobItem,
  type LocalPublish,
  localPublishArgs,
  type MasterEvent,
  type RunnerItem,
  readJobItem,
  readMasterEvent,
  readRunnerItem,
  readTargetPreview,
  type TargetPreview,
} from '../../protocol/wire/messages/local.ts';
import type { ExternalCaller, LocalClient, MasterHealth } from './api.ts';
import { ownSocketName, socketName } from './socket.ts';

export interface LocalClientOptions {
  readonly sock_dir: string;
  readonly cachedir: string;
  readonly user?: string | null;
}

/** The user that Salt records: `sudo_<name>` when root acts for another user. */
export function callingUser(env: NodeJS.ProcessEnv = process.env): string {
  const user = userInfo().username;
  const behind = env['SUDO_USER'];
  return user === 'root' && behind && behind !== 'root' ? `sudo_${behind}` : user;
}

/** Connects to the running master; daemon.unreachable when there is none. */
export async function connectLocal(opts: LocalClientOptions, caller?: ExternalCaller): Promise<LocalClient> {
  if (caller) return connectAs(opts, caller);
  const user = callingUser();
  const ipc = await connectSocket(opts);
  const identity = newDict([
    ['user', user],
    ['key', readKey(opts, user)],
  ]);
  // The master waits only a short time for unauthenticated callers, and accepts only short messages; errors are
  // reported by the calls.
  void ipc.one('hello', identity).catch(() => undefined);
  return new SocketClient(ipc, identity);
}

/** A password is sent only with the call itself: it may be valid only once. */
async function connectAs(opts: LocalClientOptions, caller: ExternalCaller): Promise<LocalClient> {
  const ipc = await connectSocket(opts);
  const identity = newDict(Object.entries(caller));
  if ('token' in caller) void ipc.one('hello', identity).catch(() => undefined);
  return new SocketClient(ipc, identity);
}

/** The master's user has a separate socket where other users have one too. */
async function connectSocket({ sock_dir }: LocalClientOptions): Promise<IpcClient> {
  const connect = (name: string): Promise<IpcClient> => connectIpc(join(sock_dir, name), { what: 'salt-master' });
  if (!existsSync(join(sock_dir, ownSocketName))) return connect(socketName);
  return connect(ownSocketName).catch(() => connect(socketName));
}

/** sudo users present the key of the master's user, which only root can read. */
function readKey(opts: LocalClientOptions, user: string): string {
  const owner = user.startsWith('sudo_') ? opts.user || 'root' : user;
  for (const name of new Set([owner, opts.user || 'root', 'root'])) {
    try {
      return readFileSync(join(opts.cachedir, `.${name}_key`), 'utf8');
    } catch {
      // Not readable or missing: try the next one, or the master refuses with its reason.
    }
  }
  return '';
}

class SocketClient implements LocalClient {
  readonly #ipc: IpcClient;
  readonly #identity: PlainDict;

  constructor(ipc: IpcClient, identity: PlainDict) {
    this.#ipc = ipc;
    this.#identity = identity;
  }

  /** The items of a call, each parsed. */
  async *#call<T extends object>(verb: string, args: PlainDict, read: (item: Value) => T | Problem): AsyncIterable<T> {
    for await (const item of this.#ipc.call(verb, { ...args, ...this.#identity })) {
      const found = read(item);
      if (isProblem(found)) throw new HaliteError('codec.malformed', `The master sent ${found.problem}`);
      yield found;
    }
  }

  publish(call: LocalPublish): AsyncIterable<JobItem> {
    return this.#call('publish', localPublishArgs(call), readJobItem);
  }

  attach(jid: string): AsyncIterable<JobItem> {
    return this.#call('attach', newDict([['jid', jid]]), readJobItem);
  }

  runner(
    fun: string,
    args: readonly Value[],
    kwargs: PlainDict,
    options: { async?: boolean } = {},
  ): AsyncIterable<RunnerItem> {
    const call = { fun, arg: [...args], kwarg: kwargs, async: options.async ?? false };
    return this.#call('runner', call, readRunnerItem);
  }

  async wheel(fun: string, args: readonly Value[], kwargs: PlainDict): Promise<{ ret: Value; success: boolean }> {
    for await (const item of this.#call('wheel', { fun, arg: [...args], kwarg: kwargs }, readRunnerItem)) {
      if (item.type === 'result') return { ret: readValue(item.ret), success: item.success };
    }
    return { ret: null, success: false };
  }

  async previewTarget(
    tgt: string | readonly string[],
    tgtType: string,
    options: { delimiter?: string; nodegroups?: Dict } = {},
  ): Promise<TargetPreview> {
    const args = {
      tgt: wireTexts(tgt),
      tgt_type: tgtType,
      delimiter: options.delimiter ?? null,
      nodegroups: options.nodegroups ?? null,
    };
    for await (const found of this.#call('preview', args, readTargetPreview)) return found;
    throw new HaliteError('codec.malformed', 'The master sent no preview');
  }

  events(tag: string): AsyncIterable<MasterEvent> {
    return this.#call('events', { tag }, readMasterEvent);
  }

  async keysChanged(
    changes: readonly { act: 'accept' | 'reject' | 'delete'; id: string }[],
    rotate: boolean,
  ): Promise<void> {
    const list = changes.map(({ act, id }) => newDict(Object.entries({ act, id })));
    for await (const _done of this.#ipc.call('keys-changed', { changes: list, rotate, ...this.#identity })) return;
  }

  async recordSsh(record: PlainDict): Promise<void> {
    await this.#ipc.one('ssh-record', { ...record, ...this.#identity });
  }

  async metrics(): Promise<string> {
    const text = await this.#ipc.one('metrics', this.#identity);
    if (typeof text !== 'string') throw new HaliteError('codec.malformed', 'The master sent no metrics');
    return text;
  }

  async health(): Promise<MasterHealth> {
    const answer = await this.#ipc.one('health', this.#identity);
    const dict = asDict(answer) ?? newDict();
    const why = asDict(dictGet(dict, 'why')) ?? newDict();
    const reasons = dictEntries(why).map(([name, text]): [string, string] => [String(name), asText(text) ?? '']);
    return { ready: dictGet(dict, 'ready') === true, why: Object.fromEntries(reasons) };
  }

  async login(): Promise<string> {
    const answer = await this.#ipc.one('login', this.#identity);
    const token = isDict(answer) ? textField(answer, 'token') : undefined;
    if (token === undefined) throw new HaliteError('codec.malformed', 'The master sent no token');
    return token;
  }

  async logout(): Promise<void> {
    await this.#ipc.one('logout', this.#identity);
  }

  close(): void {
    this.#ipc.close();
  }
}
