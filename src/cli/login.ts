// External authentication of the commands: `-a`, `-T`, `--username`, `--password`, and stored tokens.
import { accessSync, constants } from 'node:fs';
import { userInfo } from 'node:os';
import { join } from 'node:path';
import { newDict } from '../base/codec/value.ts';
import type { ClientOpts } from '../base/config/opts.ts';
import { messageOf } from '../base/errors/index.ts';
import { exitCodes } from '../base/util/exit-codes.ts';
import { replaceSecretNow } from '../base/util/replace-file.ts';
import type { ExternalCaller } from '../engine/client/api.ts';
import { ask } from './key/prompt.ts';
import { Exit } from './main.ts';
import { flagOption, type Settings, textOption } from './settings.ts';

/** The variable for scripts: a password on the command line can be seen by every user of the machine. */
const passwordVariable = 'SALT_EAUTH_PASSWORD';

/**
 * How the caller proves itself; undefined: with the key of its account. As in Salt, `salt` uses a stored token by
 * itself, the other commands only together with --auth, and nobody who can read the master's key needs one.
 */
export async function externalCaller(
  settings: Settings<ClientOpts>,
  always = false,
): Promise<ExternalCaller | undefined> {
  const eauth = textOption(settings, 'eauth');
  const token = settings.opts.get('token');
  if (typeof token === 'string' && token !== '' && (always || eauth !== '')) {
    return hasMasterKey(settings.opts) ? undefined : { token };
  }
  if (eauth === '') {
    if (flagOption(settings, 'mktoken')) settings.io.err('[WARNING ] -T has no effect without -a.\n');
    return undefined;
  }
  await refuseUnknown(settings, eauth);
  const given = { eauth, ...readLogin(settings) };
  const login = { ...given, password: given.password ?? (await askPassword(settings)) };
  return flagOption(settings, 'mktoken') ? makeToken(settings, login) : login;
}

function hasMasterKey({ cachedir }: ClientOpts): boolean {
  try {
    accessSync(join(cachedir, '.root_key'), constants.R_OK);
    return true;
  } catch {
    return false;
  }
}

async function refuseUnknown({ opts, io }: Settings<ClientOpts>, eauth: string): Promise<void> {
  const [{ Loader }, { nullLogger }] = await Promise.all([
    import('../extend/loader/index.ts'),
    import('../base/log/null-logger.ts'),
  ]);
  const none = { grains: () => newDict(), log: nullLogger(), userCode: 'names' as const };
  const names = await new Loader({ opts: () => opts.raw, ...none }).names('auth');
  if (names.includes(eauth)) return;
  io.out(`The specified external authentication system "${eauth}" is not available\n`);
  io.out(`Available eauth types: ${names.join(', ')}\n`);
  io.err('ERROR: Authentication failed\n');
  throw new Exit(exitCodes.noReturn);
}

function readLogin(settings: Settings<ClientOpts>): { username: string; password: string | undefined } {
  const { io, explicit } = settings;
  const named = textOption(settings, 'username');
  // The token of an identity provider names its user.
  const known = explicit.has('username') || textOption(settings, 'eauth') === 'oidc';
  const username = named === '' && !known ? (ask('username: ', io) ?? '') : named;
  const given = settings.values['password'];
  if (explicit.has('password')) {
    io.err(
      `[WARNING ] A password on the command line can be seen by every user of this machine: leave --password out to be asked, or set ${passwordVariable}.\n`,
    );
  }
  const password =
    given === null || given === undefined || given === '' ? process.env[passwordVariable] : String(given);
  const own = username === '' && textOption(settings, 'eauth') !== 'oidc';
  return { username: own ? userInfo().username : username, password };
}

async function askPassword({ io }: Settings<ClientOpts>): Promise<string> {
  if (!process.stdin.isTTY) return ask('password: ', io) ?? '';
  const { askHidden } = await import('./ask-hidden.ts');
  return askHidden('password: ', io);
}

async function makeToken(settings: Settings<ClientOpts>, login: ExternalCaller): Promise<ExternalCaller> {
  const { connectLocal } = await import('../engine/client/local.ts');
  const client = await connectLocal(settings.opts, login);
  try {
    const token = await client.login();
    const file = String(settings.opts.get('token_file'));
    try {
      replaceSecretNow(file, token);
    } catch (error) {
      settings.io.err(`[WARNING ] The token could not be stored in ${file}: ${messageOf(error)}\n`);
    }
    return { token };
  } finally {
    client.close();
  }
}
