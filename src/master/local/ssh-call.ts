// `client: ssh` of the API: salt-ssh in a process of its own, which finds the hosts and waits for the permission to
// connect to them.
import { type ChildProcess, fork } from 'node:child_process';
import { dirname } from 'node:path';
import { pack, unpack } from '../../base/codec/msgpack/index.ts';
import { asText, isTexts, newDict, type PlainDict, type Value } from '../../base/codec/value.ts';
import type { MasterOpts } from '../../base/config/index.ts';
import { HaliteError } from '../../base/errors/index.ts';
import { bundleFile } from '../../base/util/bundle-file.ts';
import { generateJid } from '../../base/util/index.ts';
import type { AskedJob } from '../../protocol/job/job.ts';
import { isProblem } from '../../protocol/wire/messages/fields.ts';
import {
  readSshCall,
  readSshItem,
  type SshCall,
  type SshItem,
  servedSshArgs,
  sshItem,
} from '../../protocol/wire/messages/ssh-call.ts';
import type { Authorization, Caller } from '../authorization/authorization.ts';
import type { Audit } from './audit.ts';
import type { StartedJobs } from './started-jobs.ts';

export interface SshCallParts {
  readonly opts: Pick<MasterOpts, 'raw'>;
  readonly authorization: Pick<Authorization, 'authorizeSsh'>;
  readonly audit: Pick<Audit, 'note'>;
  readonly started: Pick<StartedJobs, 'note'>;
}

/** Each is a process with connections of its own. */
const mostAtOnce = 8;
let running = 0;

export async function* sshCall(
  parts: SshCallParts,
  args: PlainDict,
  caller: Caller,
  signal: AbortSignal,
): AsyncIterable<Value> {
  const { opts, authorization, audit, started } = parts;
  const call = readSshCall(args);
  if (isProblem(call)) throw new HaliteError('call.arguments', `The job is refused: ${call.problem}.`);
  refuseUnlessEnabled(opts.raw, call);
  const asked = askedJob(call);
  // Rosters may look around in the network: not for somebody who may run this nowhere.
  authorization.authorizeSsh(caller, asked);
  if (running >= mostAtOnce)
    throw new HaliteError('call.failed', `The daemon accepts no more than ${mostAtOnce} calls of salt-ssh at once`);
  const jid = generateJid();
  const configDir = dirname(asText(opts.raw['conf_file']) ?? '/etc/salt/master');
  const process = new SshProcess(pack(servedSshArgs({ call, configDir, jid, user: caller.user })));
  signal.addEventListener('abort', () => process.leave(), { once: true });
  try {
    for await (const item of process.items()) {
      if (item.type === 'failed')
        throw new HaliteError('call.arguments', item.text, item.hint ? { hint: item.hint } : {});
      if (item.type === 'hosts') {
        authorization.authorizeSsh(caller, asked, item.ids);
        started.note(jid, caller);
        void audit.note(caller, args, { what: 'job', fun: String(asked.fun), target: targetText(call), jid });
        process.permit();
      }
      yield sshItem(item);
    }
  } finally {
    process.leave();
  }
}

const targetText = ({ tgt }: SshCall): string => (typeof tgt === 'string' ? tgt : tgt.join(','));

/** Rules for minions reach hosts only where the operator has opened the client; the API asks the same before. */
function refuseUnlessEnabled(raw: PlainDict, call: SshCall): void {
  const listed = (name: string): boolean => isTexts(raw[name]) && raw[name].includes('ssh');
  if (!listed('netapi_enable_clients') || listed('netapi_disable_clients'))
    throw new HaliteError('call.unknown', 'The client ssh is not enabled on this master');
  if (call.raw && raw['netapi_allow_raw_shell'] !== true)
    throw new HaliteError('auth.denied', 'Raw shell option not allowed.');
}

/** What the rules decide about. A shell is a function that a rule must name, or one for all functions. */
function askedJob({ fun, arg, kwarg, raw }: SshCall): Pick<AskedJob, 'fun' | 'arg'> {
  if (raw) return { fun: 'ssh._raw', arg: [fun, ...arg] };
  const named = Object.entries(kwarg);
  return { fun, arg: named.length > 0 ? [...arg, newDict([...named, ['__kwarg__', true]])] : arg };
}

class SshProcess {
  readonly #child: ChildProcess;
  readonly #arrived: SshItem[] = [];
  #wake = (): void => undefined;
  #ended = false;

  constructor(request: Uint8Array) {
    running++;
    this.#child = fork(bundleFile('ssh-served'), [], {
      detached: true,
      serialization: 'advanced',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      execArgv: [],
    });
    this.#child.on('message', (data: unknown) => {
      const item = data instanceof Uint8Array ? readSshItem(unpack(data)) : undefined;
      if (item && !isProblem(item)) this.#arrived.push(item);
      this.#wake();
    });
    this.#child.on('error', () => this.#end());
    this.#child.on('disconnect', () => this.#wake());
    this.#child.on('exit', () => this.#end());
    this.#send(request);
  }

  #send(data: Uint8Array): void {
    if (this.#child.connected) this.#child.send(data, () => undefined);
  }

  #end(): void {
    if (!this.#ended) running--;
    this.#ended = true;
    this.#wake();
  }

  async *items(): AsyncIterable<SshItem> {
    for (;;) {
      const item = this.#arrived.shift();
      if (item?.type === 'end') return;
      if (item) yield item;
      else if (this.#ended || !this.#child.connected)
        throw new HaliteError('call.failed', 'The process of salt-ssh ended before it had all results');
      else
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
    }
  }

  permit(): void {
    this.#send(pack(true));
  }

  /** Without permission it ends now; a job that runs goes on. */
  leave(): void {
    if (this.#child.connected) this.#child.disconnect();
    this.#child.unref();
    this.#wake();
  }
}
