// Who started which job lately: a user of external authentication is not the user of this machine with the same name.
import type { Caller } from '../authorization/authorization.ts';

const mostJobs = 20_000;

/** Users of external authentication have shares of their own: their names may be those of users of this machine. */
export const ownerOf = ({ user, external }: Caller): string => (external ? `${external.identity.eauth}:${user}` : user);

export class StartedJobs {
  readonly #owners = new Map<string, string>();

  note(jid: string, caller: Caller): void {
    this.remember(jid, ownerOf(caller));
  }

  remember(jid: string, owner: string): void {
    this.#owners.delete(jid);
    this.#owners.set(jid, owner);
    if (this.#owners.size <= mostJobs) return;
    const [oldest] = this.#owners.keys();
    if (oldest !== undefined) this.#owners.delete(oldest);
  }

  /** All that are remembered. */
  of(owner: string): string[] {
    return [...this.#owners].flatMap(([jid, own]) => (own === owner ? [jid] : []));
  }

  knows(jid: string): boolean {
    return this.#owners.has(jid);
  }

  by(jid: string, owner: string): boolean {
    return this.#owners.get(jid) === owner;
  }
}
