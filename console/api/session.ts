// Who uses the console, and what it may do.
import { signal } from '@preact/signals';
import { ask, get, Problem } from './http.ts';
import { fieldsOf, flagOf, listOf, textOf, textsOf, timeOf } from './read.ts';

export interface AuthMethod {
  readonly name: string;
  readonly label: string;
  /** Where the browser logs in with another service; '' when it is asked for a password here. */
  readonly start: string;
}

/** What buttons are shown for; the master decides anyhow. */
export interface Rights {
  readonly run: boolean;
  readonly keys: boolean;
  readonly acceptKeys: boolean;
  /** May see the master itself: findings, tokens, audit, options. */
  readonly operate: boolean;
}

export interface Session {
  readonly user: string;
  readonly eauth: string;
  readonly groups: readonly string[];
  /** Seconds since 1970. */
  readonly expire: number;
  readonly rules: unknown;
  readonly can: Rights;
}

/** Undefined until it is known; null when nobody is logged in. */
export const session = signal<Session | null | undefined>(undefined);

export async function authMethods(): Promise<readonly AuthMethod[]> {
  const fields = fieldsOf(await ask('GET', 'auth-methods', { anonymous: true }));
  return listOf(fields['methods']).map((each) => {
    const one = fieldsOf(each);
    const name = textOf(one['eauth']);
    return { name, label: textOf(one['label']) || name, start: textOf(one['start']) };
  });
}

function sessionOf(answer: unknown): Session {
  const fields = fieldsOf(answer);
  const can = fieldsOf(fields['can']);
  return {
    user: textOf(fields['user']),
    eauth: textOf(fields['eauth']),
    groups: textsOf(fields['groups']),
    expire: timeOf(fields['expire']) ?? 0,
    rules: fields['rules'],
    can: {
      run: can['run'] !== 'none',
      keys: can['keys'] !== 'none',
      acceptKeys: flagOf(can['acceptKeys']),
      operate: flagOf(can['operate']),
    },
  };
}

export const can = (what: keyof Rights): boolean => session.value?.can[what] === true;

export async function logIn(username: string, password: string, eauth: string): Promise<void> {
  await ask('POST', 'session', { body: { username, password, eauth }, anonymous: true });
  await whoAmI();
}

const askAgainAfter = 2_000;

/** Only a refusal means that nobody is logged in: while the API or the master is away, it is asked again. */
export async function whoAmI(): Promise<void> {
  try {
    session.value = sessionOf(await ask('GET', 'session', { anonymous: true }));
  } catch (error) {
    if (error instanceof Problem && error.status === 401) session.value = null;
    else if (session.value === undefined) setTimeout(() => void whoAmI(), askAgainAfter);
  }
}

export async function renewSession(): Promise<void> {
  await ask('POST', 'session/renew', { body: {} });
  session.value = sessionOf(await get('session'));
}

export async function logOut(): Promise<void> {
  await ask('DELETE', 'session', { anonymous: true }).catch(() => undefined);
  session.value = null;
}
