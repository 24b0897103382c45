// The requests of simulated minions to their master: sign-ins, and what is sealed with the keys that these gave.
import { asDict, type PlainDict } from '../base/codec/value.ts';
import type { Counters } from './counters.ts';
import { eventLoad, type Opened, openPillar, openReply, pillarLoad, sealRequest } from './messages.ts';
import type { SimulatedMinion } from './minion.ts';
import type { FleetOptions } from './options.ts';
import type { Requests } from './requests.ts';
import {
  type KnownMaster,
  newNonce,
  readSignIn,
  type SignInRequest,
  type SignInResult,
  signInRequest,
} from './sign-in.ts';

/** A sign-in is tried again after this when nothing answered, or when the master said that it is full. */
const retryMs = 1000;
const fullMs = 10_000;
/** Nothing proves that it was the master who said when to come back: not never, and not at once. */
const [leastBusyMs, mostBusyMs] = [500, 60_000];

export interface LinkParts {
  readonly options: FleetOptions;
  readonly counters: Counters;
  readonly requests: Requests;
  /** After each sign-in: the session may be another one. */
  readonly onSignedIn: (minion: SimulatedMinion) => void;
}

type Form = 'sealed' | 'private';
type Done = (result: Opened | undefined, ms: number, why: string) => void;

interface CallOptions {
  /** `private`: the reply is sealed for this minion alone, as a pillar is. */
  readonly form?: Form;
  readonly urgent?: boolean;
  /** Whether it is sent once more when it is refused. */
  readonly again?: boolean;
}

export class Link {
  readonly #parts: LinkParts;
  readonly #timers = new Set<NodeJS.Timeout>();
  master: KnownMaster | undefined;
  #closed = false;

  constructor(parts: LinkParts) {
    this.#parts = parts;
  }

  close(): void {
    this.#closed = true;
    for (const timer of this.#timers) clearTimeout(timer);
  }

  /** Runs it later, unless the fleet is stopped. */
  later(ms: number, work: () => void): void {
    if (this.#closed) return;
    const timer = setTimeout(() => {
      this.#timers.delete(timer);
      work();
    }, ms);
    this.#timers.add(timer);
  }

  /** Several who want the same minion signed in share one sign-in. */
  signIn(minion: SimulatedMinion, done: (ok: boolean) => void = () => undefined): void {
    if (minion.signingIn) return void minion.signingIn.push(done);
    minion.signingIn = [done];
    this.#parts.counters.began('signIn');
    this.#trySignIn(minion, performance.now() + this.#parts.options.signInMs);
  }

  #trySignIn(minion: SimulatedMinion, until: number): void {
    const { options, requests, counters } = this.#parts;
    let request: SignInRequest | undefined;
    let known: KnownMaster | undefined;
    requests.ask({
      until,
      make: () => {
        known = this.master;
        request = signInRequest(options, minion.id, minion.key, known);
        return request.payload;
      },
      done: (reply, ms, why) => {
        if (!reply || !request) return this.#unanswered(minion, until, why);
        const result = readSignIn(reply, { options, key: minion.key, request, known: this.master });
        if (result.kind === 'accepted') counters.took('signIn', ms);
        this.#judged(minion, until, result);
      },
    });
  }

  #unanswered(minion: SimulatedMinion, until: number, why: string): void {
    this.#parts.counters.because(`sign-in: ${why}`);
    this.#again(minion, until, retryMs);
  }

  #judged(minion: SimulatedMinion, until: number, result: SignInResult): void {
    const { counters, options } = this.#parts;
    if (result.kind === 'accepted') {
      this.#accepted(minion, result);
      return;
    }
    if (result.kind === 'pending') {
      counters.add('pending');
      counters.because('sign-in: the key waits for acceptance on the master');
      this.#again(minion, until, options.acceptanceWaitMs);
      return;
    }
    if (result.kind === 'busy') {
      counters.add('busy');
      const asked = Math.min(mostBusyMs, Math.max(leastBusyMs, result.seconds * 1000 || 0));
      this.#again(minion, until, asked);
      return;
    }
    if (result.kind === 'full') {
      counters.because('sign-in: the master has as many minions as it takes (max_minions)');
      this.#again(minion, until, fullMs);
      return;
    }
    if (result.kind === 'failed') counters.because(`sign-in: ${result.why}`);
    else {
      counters.add('rejected');
      counters.because('sign-in: the master rejected the key: it knows another one for this id, or was told to');
    }
    this.#finish(minion, false);
  }

  #accepted(minion: SimulatedMinion, result: Extract<SignInResult, { kind: 'accepted' }>): void {
    const { counters, onSignedIn } = this.#parts;
    this.master = result.master;
    minion.session = result.session;
    if (minion.state !== 'in') counters.add('signedIn');
    minion.state = 'in';
    counters.add('signIns');
    counters.ended('signIn');
    onSignedIn(minion);
    this.#finish(minion, true);
  }

  #again(minion: SimulatedMinion, until: number, waitMs: number): void {
    if (this.#closed || performance.now() + waitMs > until) {
      this.#finish(minion, false);
      return;
    }
    this.later(waitMs * (0.9 + Math.random() * 0.2), () => this.#trySignIn(minion, until));
  }

  #finish(minion: SimulatedMinion, ok: boolean): void {
    if (!ok) this.#parts.counters.add('failedSignIns');
    const waiting = minion.signingIn ?? [];
    minion.signingIn = undefined;
    for (const done of waiting) done(ok);
  }

  /**
   * A request of a minion, and whether the master took it. One that is refused is sent once more after a sign-in, because
   * the keys may have changed.
   */
  call(minion: SimulatedMinion, load: PlainDict, done: Done, how: CallOptions = {}): void {
    const { options, requests, counters } = this.#parts;
    const { protocol } = options;
    const { form = 'sealed', urgent = false, again = true } = how;
    let nonce = '';
    requests.ask({
      urgent,
      make: () => {
        nonce = protocol >= 2 ? newNonce() : '';
        const session = minion.session?.();
        if (!session) throw new Error('a request of a minion that is not signed in');
        return sealRequest(protocol, minion.id, minion.key, session, load, nonce);
      },
      done: (reply, ms, why) => {
        if (!reply) return done(undefined, ms, why);
        const opened = this.#open(minion, reply, nonce, form);
        if (opened.ok || !again) return done(opened, ms, opened.ok ? '' : opened.why);
        counters.add('refused');
        counters.because(`refused: ${opened.why}`);
        this.signIn(minion, (ok) => {
          if (ok) this.call(minion, load, done, { ...how, again: false });
          else done(opened, ms, opened.why);
        });
      },
    });
  }

  #open(minion: SimulatedMinion, reply: Buffer, nonce: string, form: Form): Opened {
    const { protocol } = this.#parts.options;
    const session = minion.session?.();
    if (!session) return { ok: false, why: 'not signed in' };
    return form === 'private'
      ? openPillar(protocol, reply, minion.key, nonce)
      : openReply(protocol, reply, session, nonce);
  }

  fire(minion: SimulatedMinion, tag: string, data: PlainDict | string): void {
    this.call(minion, eventLoad(tag, data), (result) => {
      if (result?.ok) this.#parts.counters.add('events');
    });
  }

  /** What a starting minion asks for after its sign-in: its pillar, then it announces itself. */
  boot(minion: SimulatedMinion, startText: string, done: () => void): void {
    const { counters } = this.#parts;
    const began = performance.now();
    counters.began('boot');
    const failed = (what: string, why: string): void => {
      counters.because(`${what}: ${why}`);
      done();
    };
    this.call(
      minion,
      pillarLoad(minion.grains),
      (pillar, _, why) => {
        if (!pillar?.ok) return failed('pillar', why);
        minion.pillar = asDict(pillar.value) ?? minion.pillar;
        this.call(minion, eventLoad(`salt/minion/${minion.id}/start`, startText), (event, __, reason) => {
          if (!event?.ok) return failed('start event', reason);
          counters.took('boot', performance.now() - began);
          counters.ended('boot');
          counters.add('events');
          done();
        });
      },
      { form: 'private' },
    );
  }
}
