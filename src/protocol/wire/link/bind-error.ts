// Explains to the administrator why a port could not be opened.
import { HaliteError } from '../../../base/errors/index.ts';

export function bindError(where: string, thrown: unknown): HaliteError {
  const code = (thrown as NodeJS.ErrnoException).code ?? String(thrown);
  if (code === 'EADDRINUSE') {
    return new HaliteError('daemon.running', `The address ${where} is already in use`, {
      hint: 'Stop the other daemon, or choose other ports with publish_port and ret_port.',
      cause: thrown,
    });
  }
  return new HaliteError('config.value', `Cannot listen on ${where} (${code})`, {
    hint: 'Check the option interface, and that the port may be used by this user.',
    cause: thrown,
  });
}
