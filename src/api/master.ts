// The master behind the API: calls over its local socket in the name of the caller of the API. This process has no
// credentials of its own.
import { join } from 'node:path';
import { dictField, numberField, textField } from '../base/codec/fields.ts';
import { asPlainDict, dictSize, isDict, newDict, type PlainDict, type Value } from '../base/codec/value.ts';
import { HaliteError } from '../base/errors/index.ts';
import { ConcurrencyLimit } from '../base/util/concurrency-limit.ts';
import { socketName } from '../engine/client/socket.ts';
import { connectIpc, type IpcClient } from '../protocol/wire/ipc.ts';
import { isProblem, type Problem } from '../protocol/wire/messages/fields.ts';

export interface Login {
  readonly eauth: string;
  readonly username: string;
  readonly password: string;
  /** The word of the API about the certificate of the client. */
  readonly certificate?: string;
}

export type Credentials = { readonly token: string } | Login;

/** Who a token stands for. */
export interface Who {
  readonly name: string;
  readonly eauth: string;
  /** In seconds since 1970. */
  readonly expire: number;
}

/** The caller of an endpoint behind the token check. */
export interface Caller extends Who {
  readonly token: string;
}

/** The master reads no larger message of a caller whom it does not know yet. */
const mostUnknownBytes = 64 * 1024;

/**
 * The master closes connections whose callers it does not know yet when there are too many: so many calls of each sort
 * are at its gate at the same time, and failed logins, which take long, do not block the others.
 */
const mostAtTheGate = 32;
const gateMs = 20_000;

/** Waits for a place; the function that it resolves to gives the place back. */
function enter(limit: ConcurrencyLimit): Promise<() => void> {
  return new Promise((resolve) => {
    void limit.run(() => new Promise<void>((done) => resolve(done)));
  });
}

/** One connection in the name of one caller, opened by its first call. */
export class MasterSession {
  readonly #connect: () => Promise<IpcClient>;
  readonly #gate: ConcurrencyLimit;
  readonly #identity: PlainDict;
  #ipc: Promise<IpcClient> | undefined;
  #known: boolean;

  constructor(
    connect: () => Promise<IpcClient>,
    gate: ConcurrencyLimit,
    credentials: Credentials | undefined,
    from: string,
    about: Readonly<Record<string, string>> = {},
  ) {
    this.#connect = connect;
    this.#gate = gate;
    this.#identity = newDict([...Object.entries({ ...about, ...credentials }), ['from', from]]);
    // A password is sent only with the call itself: it may be valid only once.
    this.#known = !credentials || !('token' in credentials);
  }

  /** The items of a call, each read. */
  async *call<T extends object>(
    verb: string,
    args: PlainDict,
    read: (item: Value) => T | Problem,
    signal?: AbortSignal,
  ): AsyncIterable<T> {
    const leave = await enter(this.#gate);
    try {
      const ipc = await this.#connected();
      if (!this.#known && roughLength(args) > mostUnknownBytes) {
        this.#known = true;
        await ipc.one('hello', this.#identity);
      }
      for await (const item of ipc.call(verb, { ...args, ...this.#identity }, signal ? { signal } : {})) {
        leave();
        const found = read(item);
        if (isProblem(found)) throw new HaliteError('codec.malformed', `The master sent ${found.problem}`);
        yield found;
      }
    } finally {
      leave();
    }
  }

  async one(verb: string, args: PlainDict = newDict()): Promise<Value> {
    const leave = await enter(this.#gate);
    try {
      const ipc = await this.#connected();
      return await ipc.one(verb, { ...args, ...this.#identity });
    } finally {
      leave();
    }
  }

  /** Several calls share the connection, also when they begin at the same time. */
  #connected(): Promise<IpcClient> {
    this.#ipc ??= this.#connect();
    return this.#ipc;
  }

  close(): void {
    this.#ipc?.then(
      (ipc) => ipc.close(),
      () => undefined,
    );
  }
}

const roughLength = (args: PlainDict): number =>
  JSON.stringify(args, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value)).length;

export interface Readiness {
  readonly ready: boolean;
  readonly why: PlainDict;
}

const readyMs = 1_000;

export class Master {
  readonly #path: string;
  readonly #tokens = new ConcurrencyLimit(mostAtTheGate, gateMs);
  readonly #passwords = new ConcurrencyLimit(mostAtTheGate, gateMs);
  readonly #checks = new ConcurrencyLimit(mostAtTheGate, gateMs);
  #ready: Promise<Readiness> | undefined;
  #readyAt = 0;

  constructor(sockDir: string) {
    // Always the socket for users without special rights.
    this.#path = join(sockDir, socketName);
  }

  /** `about`: what the audit says about the request besides its caller. */
  session(credentials: Credentials | undefined, from: string, about?: Readonly<Record<string, string>>): MasterSession {
    const gate = credentials && 'password' in credentials ? this.#passwords : this.#tokens;
    return this.#open(gate, credentials, from, about);
  }

  #open(
    gate: ConcurrencyLimit,
    credentials: Credentials | undefined,
    from: string,
    about?: Readonly<Record<string, string>>,
  ): MasterSession {
    return new MasterSession(() => connectIpc(this.#path, { what: 'salt-master' }), gate, credentials, from, about);
  }

  /** Whether the master can work, and what keeps it from that; nobody needs to log in, and however many ask, it is asked once a second. */
  ready(): Promise<Readiness> {
    if (this.#ready && Date.now() - this.#readyAt < readyMs) return this.#ready;
    this.#readyAt = Date.now();
    this.#ready = this.#with(this.#checks, undefined, '', async (session) => {
      const found = asPlainDict(await session.one('ready')) ?? newDict();
      return { ready: found['ready'] === true, why: asPlainDict(found['why']) ?? newDict() };
    }).catch(() => ({ ready: false, why: newDict([['master', 'it does not answer']]) }));
    return this.#ready;
  }

  async #with<T>(
    gate: ConcurrencyLimit,
    credentials: Credentials | undefined,
    from: string,
    work: (session: MasterSession) => Promise<T>,
  ) {
    const session = this.#open(gate, credentials, from);
    try {
      return await work(session);
    } finally {
      session.close();
    }
  }

  /** Throws when the master does not answer at its socket. */
  async reach(): Promise<void> {
    (await connectIpc(this.#path, { what: 'salt-master' })).close();
  }

  /** Undefined for a token that is not valid now. */
  whoIs(token: string, from: string): Promise<Who | undefined> {
    return this.#with(this.#checks, { token }, from, async (session) => {
      const found = await session.one('token');
      if (!isDict(found) || dictSize(found) === 0) return undefined;
      const [name, eauth] = [textField(found, 'name'), textField(found, 'eauth')];
      const expire = numberField(found, 'expire');
      return name === undefined || eauth === undefined || expire === undefined ? undefined : { name, eauth, expire };
    });
  }

  /** The token with its data and the rules of the user. */
  login(
    credentials: Login,
    from: string,
    tokenExpire: Value | undefined,
    about: Readonly<Record<string, string>> = {},
  ): Promise<PlainDict> {
    const args = newDict([
      ...Object.entries(about),
      ...(tokenExpire === undefined ? [] : [['token_expire', tokenExpire] as const]),
    ]);
    return this.#with(this.#passwords, credentials, from, async (session) => {
      const made = await session.one('login', args);
      const found = dictField(newDict([['made', made]]), 'made');
      if (!found || found instanceof Map) throw new HaliteError('codec.malformed', 'The master sent no token');
      return found;
    });
  }

  async logout(token: string, from: string): Promise<void> {
    await this.#with(this.#checks, { token }, from, (session) => session.one('logout'));
  }

  async hook(by: { readonly token: string } | { readonly hookKey: string }, from: string, args: PlainDict) {
    const own = 'hookKey' in by ? { ...args, hook_key: by.hookKey } : args;
    await this.#with(this.#tokens, 'token' in by ? by : undefined, from, (session) => session.one('hook', own));
  }
}
