// `netapi_enable_clients` says what may be started through the API at all, for both of its forms.
import type { Api } from '../api.ts';
import { ApiError } from '../http/errors.ts';

export function needClient({ settings }: Api, ...names: readonly string[]): void {
  if (names.some((name) => settings.clients.has(name))) return;
  throw new ApiError(403, `Client disabled: '${names[0]}'.`, {
    code: 'auth.denied',
    hint: "Add it to the option 'netapi_enable_clients' of the master configuration.",
  });
}
