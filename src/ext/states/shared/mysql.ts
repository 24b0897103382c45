// Shared code of the MySQL states: connection arguments, and the last error.
import { p, type StateContext } from 'halite/sdk';
import { takeError } from '../../shared/mysql/connect.ts';

export const connection = p.kwargs({
  doc: 'connection_host, connection_user, connection_pass, … as for the module mysql',
});

/** Why the last call failed, if it did. */
export const lastError = (ctx: StateContext): string | undefined => takeError(ctx);

/** ` (why)` for comments. */
export function reason(ctx: StateContext): string {
  const error = lastError(ctx);
  return error === undefined ? '' : ` (${error})`;
}
