// Signs in to one master and retries until it is accepted: reports a problem once, waits between attempts, never stops
// because of an unproven refusal.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PlainDict } from '../../base/codec/value.ts';
import type { MinionOpts } from '../../base/config/index.ts';
import { HaliteError, messageOf } from '../../base/errors/index.ts';
import type { Logger } from '../../base/log/index.ts';
import { backoff } from '../../base/util/index.ts';
import type { RequestClient } from '../../protocol/wire/transport.ts';
import { type AuthResult, buildAuthRequest, type Credentials, judgeReply } from './auth-reply.ts';
import type { Identity } from './identity.ts';
import type { MasterTrust } from './trust.ts';

export interface SignInOptions {
  readonly opts: MinionOpts;
  readonly identity: Identity;
  readonly trust: MasterTrust;
  readonly client: RequestClient;
  /** The master as written in the configuration, for messages. */
  readonly master: string;
  readonly log: Logger;
  readonly signal: AbortSignal;
  readonly autosignGrains: () => PlainDict | undefined;
  /** Number of attempts; the daemon has no limit. */
  readonly tries?: number;
  readonly onState?: (state: SignInState) => void;
}

export type SignInState = 'trying' | 'pending' | 'rejected' | 'distrusted' | 'full' | 'unreachable';

/** One attempt. */
export async function signInOnce(options: SignInOptions): Promise<AuthResult> {
  const { opts, identity, trust, client, signal, master, log } = options;
  await trust.reload();
  const nonce = randomUUID().replaceAll('-', '');
  const wantsSig = opts.verify_master_pubkey_sign;
  const request = buildAuthRequest(identity, trust.stored, nonce, options.autosignGrains(), wantsSig);
  const reply = await client.request(request.payload, { timeoutMs: opts.auth_timeout * 1000, signal });
  const result = await judgeReply(reply, request, identity, trust, opts.minimum_master_version, master);
  // The key is stored last, when everything else is verified.
  if (result.kind === 'accepted') {
    if (result.storeKey !== undefined) await trust.store(result.storeKey);
    await trust.learn(result.credentials.nextKey, log);
  }
  return result;
}

/** Signs in. Rejects only when aborted, when `tries` are used up, or with auth.denied after a proven rejection. */
export async function signIn(options: SignInOptions): Promise<Credentials> {
  const { opts, signal, log } = options;
  const retry = backoff({ base: 1000, max: 30_000, jitter: 0.5 });
  let pendingWait = opts.acceptance_wait_time * 1000;
  // Reported immediately, and again at most every minute while it lasts.
  const tell = (message: string) => log.limited(`sign-in ${message}`, 'error', message);
  for (let attempt = 1; ; attempt++) {
    const result = await attemptSignIn(options);
    signal.throwIfAborted();
    if (result.kind === 'accepted') return result.credentials;
    const wait = waitAfter(result, pendingWait, retry);
    report(options, result, tell, wait);
    // A command retries only what may change by itself; other problems need an operator.
    const hopeful = result.kind === 'unreachable' || result.kind === 'failed' || result.kind === 'busy';
    if (options.tries !== undefined && (!hopeful || attempt >= options.tries)) throw givenUp(options, result);
    if (result.kind === 'busy') retry.reset();
    if (result.kind === 'pending') {
      retry.reset();
      pendingWait = nextPendingWait(opts, pendingWait);
    }
    await sleep(result.kind === 'rejected' || result.kind === 'full' ? Math.max(wait, 10_000) : wait, undefined, {
      signal,
    });
  }
}

async function attemptSignIn(options: SignInOptions): Promise<AuthResult | { kind: 'unreachable'; text: string }> {
  try {
    return await signInOnce(options);
  } catch (error) {
    options.signal.throwIfAborted();
    const reachable = error instanceof HaliteError && !error.code.startsWith('wire.');
    return reachable ? { kind: 'failed', text: messageOf(error) } : { kind: 'unreachable', text: messageOf(error) };
  }
}

/** Longest and shortest wait that a master may ask for: nothing proves that it was the master. */
const [leastBusyMs, mostBusyMs] = [500, 60_000];

/** Never the same for all minions that got the same answer at the same time. */
function waitAfter(result: Refusal, pendingWait: number, retry: Pick<ReturnType<typeof backoff>, 'next'>): number {
  if (result.kind === 'pending') return pendingWait * (0.9 + Math.random() * 0.2);
  if (result.kind !== 'busy') return retry.next();
  const asked = Math.min(mostBusyMs, Math.max(leastBusyMs, result.seconds * 1000 || 0));
  return asked * (1 + Math.random() * 0.1);
}

/** The wait doubles up to its maximum, when one is set. */
function nextPendingWait(opts: MinionOpts, current: number): number {
  const max = opts.acceptance_wait_time_max * 1000;
  return max > 0 ? Math.min(current * 2, max) : current;
}

type Refusal = Exclude<Awaited<ReturnType<typeof attemptSignIn>>, { kind: 'accepted' }>;

function report(options: SignInOptions, result: Refusal, tell: (message: string) => void, waitMs: number): void {
  const { master, identity, opts, onState } = options;
  const seconds = Math.max(1, Math.round(waitMs / 1000));
  switch (result.kind) {
    case 'pending':
      onState?.('pending');
      tell(
        `The master ${master} has not accepted this minion's key yet. Compare the fingerprint with "salt-key -f ${identity.id}" on the master, then run "salt-key -a ${identity.id}" there. The Salt Master has cached the public key for this node; this minion asks again every ${Math.round(opts.acceptance_wait_time)} seconds.\n  fingerprint: ${identity.fingerprint}`,
      );
      return;
    case 'rejected':
      onState?.('rejected');
      if (result.proven && !opts.rejected_retry) throw rejection(options);
      tell(
        `The master ${master} has rejected this minion's public key. Delete the key of "${identity.id}" on the master ("salt-key -d ${identity.id}") to repair this. The minion keeps trying.\n  fingerprint: ${identity.fingerprint}`,
      );
      return;
    case 'full':
      onState?.('full');
      tell(`The master ${master} has as many minions as max_minions allows. The minion keeps trying.`);
      return;
    case 'busy':
      onState?.('trying');
      options.log.limited(
        `busy ${master}`,
        'info',
        `The master ${master} has too many sign-ins to do. Trying again in about ${seconds} seconds.`,
      );
      return;
    case 'distrusted':
      onState?.('distrusted');
      tell(result.text);
      return;
    case 'failed':
      onState?.('trying');
      tell(`Sign-in at ${master} failed: ${result.text}. Trying again.`);
      return;
    case 'unreachable':
      onState?.('unreachable');
      options.log.limited(
        `unreachable ${master}`,
        'warn',
        `The master ${master} does not answer: ${result.text}. Trying again in about ${seconds} seconds.`,
      );
  }
}

function rejection(options: SignInOptions): HaliteError {
  const { master, identity } = options;
  return new HaliteError('auth.denied', `The master ${master} has rejected this minion's public key`, {
    hint: `Delete the key of "${identity.id}" on the master ("salt-key -d ${identity.id}") and start the minion again, or set rejected_retry: true.`,
    details: { master },
  });
}

function givenUp(options: SignInOptions, result: Refusal): HaliteError {
  const { master, identity } = options;
  if (result.kind === 'pending') {
    return new HaliteError('auth.pending', `The master ${master} has not accepted the key of ${identity.id} yet`, {
      hint: `Run "salt-key -a ${identity.id}" on the master. Fingerprint: ${identity.fingerprint}`,
    });
  }
  if (result.kind === 'distrusted') return new HaliteError('auth.master-key', result.text);
  const text = 'text' in result ? result.text : `the answer was "${result.kind}"`;
  const code = result.kind === 'unreachable' ? 'daemon.unreachable' : 'auth.failed';
  return new HaliteError(code, `Sign-in at ${master} failed: ${text}`);
}
