// The command line of the system's ssh. It never holds a password, a passphrase, or words that a roster could turn into
// other options.
import type { SshTarget } from './target.ts';

/** What all hosts of one run have in common. */
export interface ClientOptions {
  readonly ignoreHostKeys: boolean;
  readonly noHostKeys: boolean;
  /** A file with known host keys, or ''. */
  readonly knownHosts: string;
  /** A client configuration to use instead of the user's, or ''. */
  readonly configFile: string;
  readonly keepAlive: { readonly interval: number; readonly countMax: number } | undefined;
}

/** Percent signs in paths would be replaced by ssh. */
const literal = (path: string): string => path.replaceAll('%', '%%');
const set = (name: string, value: string | number): string[] => ['-o', `${name}=${value}`];

function authentication(target: SshTarget): string[] {
  const { passwd, priv, identitiesOnly } = target;
  return [
    ...set('KbdInteractiveAuthentication', 'no'),
    ...set('PasswordAuthentication', passwd ? 'yes' : 'no'),
    ...set('NumberOfPasswordPrompts', 1),
    ...set('GSSAPIAuthentication', 'no'),
    ...(priv && priv !== 'agent-forwarding' ? ['-i', literal(priv)] : []),
    ...(identitiesOnly ? set('IdentitiesOnly', 'yes') : []),
  ];
}

function hostKeys({ ignoreHostKeys, noHostKeys, knownHosts }: ClientOptions): string[] {
  return [
    ...(ignoreHostKeys || noHostKeys ? set('StrictHostKeyChecking', 'no') : []),
    ...(noHostKeys ? set('UserKnownHostsFile', '/dev/null') : []),
    ...(knownHosts ? set('UserKnownHostsFile', `"${literal(knownHosts)}"`) : []),
  ];
}

export interface CommandForm {
  readonly tty: boolean;
  /** The socket of a connection that others share, or the one that this command shares. */
  readonly control?: { readonly path: string; readonly role: 'open' | 'use' };
}

/** The arguments of ssh for one command on a host. */
export function sshArguments(target: SshTarget, client: ClientOptions, form: CommandForm, command: string): string[] {
  const { keepAlive } = client;
  const control = form.control
    ? [
        ...set('ControlPath', `"${literal(form.control.path)}"`),
        ...set('ControlMaster', form.control.role === 'open' ? 'yes' : 'no'),
      ]
    : [...set('ControlPath', 'none')];
  return [
    ...(client.configFile ? ['-F', client.configFile] : []),
    ...(form.tty ? ['-t', '-t'] : ['-T']),
    ...control,
    ...authentication(target),
    ...set('ConnectTimeout', target.timeout),
    ...hostKeys(client),
    ...(keepAlive ? set('ServerAliveInterval', keepAlive.interval) : []),
    ...(keepAlive ? set('ServerAliveCountMax', keepAlive.countMax) : []),
    ...(target.port === undefined ? [] : ['-p', String(target.port)]),
    ...(target.user ? ['-l', target.user] : []),
    ...(form.control?.role === 'use' ? [] : target.forwards.flatMap((forward) => ['-R', forward])),
    ...target.sshOptions.flatMap((option) => ['-o', option]),
    '--',
    target.host,
    command,
  ];
}
