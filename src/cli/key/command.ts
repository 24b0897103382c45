// The command `salt-key`, which works on the key folders, or with external authentication through the running master.
import { accessSync, constants, mkdirSync } from 'node:fs';
import { dictOf, type Value } from '../../base/codec/value.ts';
import { loadClientConfig } from '../../base/config/client.ts';
import type { ClientOpts } from '../../base/config/opts.ts';
import { exitCodes } from '../../base/util/exit-codes.ts';
import type { KeyState } from '../../extend/sdk/context.ts';
import type { KeyAct } from '../../store/keys.ts';
import { readCommandLine, usageExit } from '../command-line.ts';
import { type Terminal, terminal } from '../io.ts';
import { loadCommandSettings } from '../links.ts';
import { externalCaller } from '../login.ts';
import { saltKeySpec } from '../options/salt-key.ts';
import type { ParsedCommandLine } from '../optparse.ts';
import { Display } from '../output.ts';
import { outputOptions } from '../output-options.ts';
import { flagOption, numberOption, type Settings, textOption } from '../settings.ts';
import { becomeUser } from '../user.ts';
import { keyStates } from './folders.ts';
import { FolderKeys, type Keys } from './local.ts';
import { ask } from './prompt.ts';
import { selectionData, statesNamed } from './show.ts';

/** In Salt's order; the first action that is set is done. */
const actions = [
  'gen_keys',
  'gen_signature',
  'list',
  'list_all',
  'print',
  'print_all',
  'accept',
  'accept_all',
  'reject',
  'reject_all',
  'delete',
  'delete_all',
  'finger',
  'finger_all',
] as const;
type Action = (typeof actions)[number];

export interface KeySessionOptions {
  readonly io: Terminal;
  /** Asks the operator; tests supply the answer. */
  readonly ask: (question: string) => string | undefined;
}

interface KeySession extends KeySessionOptions {
  readonly settings: Settings<ClientOpts>;
  readonly keys: Keys;
  readonly display: Display;
  readonly quiet: boolean;
}

function chosenAction(settings: Settings<ClientOpts>): { action: Action; match: string } {
  const set = (name: Action): boolean => Boolean(settings.values[name]);
  const action = actions.find(set) ?? 'list_all';
  return { action, match: action.endsWith('_all') ? '*' : textOption(settings, action) };
}

async function show(session: KeySession, data: Value): Promise<number> {
  if (!session.quiet) await session.display.show(data, 'key');
  return exitCodes.ok;
}

const perfect: Readonly<Record<KeyAct, string>> = { accept: 'accepted', reject: 'rejected', delete: 'deleted' };

/** States whose keys an action may change, according to the --include options. */
function reachable(settings: Settings<ClientOpts>, act: KeyAct): readonly KeyState[] {
  if (act === 'delete') return keyStates;
  const all = flagOption(settings, 'include_all');
  const states: KeyState[] = ['pending'];
  if (act === 'reject' && (all || flagOption(settings, 'include_accepted'))) states.push('accepted');
  if (act === 'accept' && (all || flagOption(settings, 'include_rejected'))) states.push('rejected');
  if (flagOption(settings, 'include_denied')) states.push('denied');
  return states;
}

const statusWords: Readonly<Record<KeyState, string>> = {
  pending: 'unaccepted',
  accepted: 'accepted',
  rejected: 'rejected',
  denied: 'denied',
};

/** Salt mentions the --include options even for delete, where they have no effect. */
function noMatchText(settings: Settings<ClientOpts>, act: KeyAct, match: string): string {
  const words = (['pending', 'accepted', 'rejected', 'denied'] as const)
    .filter((state) =>
      act === 'delete'
        ? state === 'pending' || flagOption(settings, `include_${state}`)
        : reachable(settings, act).includes(state),
    )
    .map((state) => statusWords[state]);
  const last = words.pop()!;
  const named = words.length > 0 ? `${words.join(', ')} or ${last}` : last;
  return `The key glob '${match}' does not match any ${named} keys.\n`;
}

/** True when the operator agrees; undefined when there is no input. */
function confirmed(session: KeySession, act: KeyAct): boolean | undefined {
  if (flagOption(session.settings, 'yes')) return true;
  const answer = session.ask(act === 'delete' ? 'Proceed? [N/y] ' : 'Proceed? [n/Y] ');
  if (answer === undefined) return undefined;
  return answer === '' ? act !== 'delete' : answer.toLowerCase().startsWith('y');
}

async function change(session: KeySession, act: KeyAct, match: string): Promise<number> {
  const { settings, keys, io, quiet } = session;
  const say = (text: string): void => {
    if (!quiet) io.out(text);
  };
  const selection = await keys.match(match, reachable(settings, act));
  if (selection.size === 0) {
    say(noMatchText(settings, act, match));
    return exitCodes.ok;
  }
  say(`The following keys are going to be ${perfect[act]}:\n`);
  await show(session, selectionData(selection));
  const agreed = confirmed(session, act);
  if (agreed === undefined) {
    io.err('\nError: EOF when reading a line\nUse -y to answer yes to all questions.\n');
    return exitCodes.generic;
  }
  if (!agreed) return exitCodes.ok;
  const preserveCache =
    settings.values['preserve_minions'] === true || Boolean(settings.opts.get('preserve_minion_cache'));
  const rotate = settings.values['rotate_aes_key'] === true;
  await keys.change(act, selection, { preserveCache, rotate }, (changes) => {
    // One write: of tens of thousands each would cost as much as its key.
    say(changes.map(({ id }) => `Key for minion ${id} ${perfect[act]}.\n`).join(''));
  });
  return exitCodes.ok;
}

async function generate(session: KeySession, action: 'gen_keys' | 'gen_signature'): Promise<number> {
  const { settings } = session;
  const { generateKeys, generateSignature } = await import('./generate.ts');
  const bits = numberOption(settings, 'keysize');
  if (action === 'gen_keys') {
    const dir = textOption(settings, 'gen_keys_dir');
    return show(
      session,
      dictOf([['return', await generateKeys(dir, textOption(settings, 'gen_keys'), bits, settings.opts)]]),
    );
  }
  const request = {
    pub: textOption(settings, 'pub'),
    priv: textOption(settings, 'priv'),
    signaturePath: textOption(settings, 'signature_path'),
    autoCreate: flagOption(settings, 'auto_create'),
    bits,
  };
  return show(session, dictOf([['return', await generateSignature(request, settings.opts)]]));
}

async function perform(session: KeySession): Promise<number> {
  const { settings, keys } = session;
  const { action, match } = chosenAction(settings);
  const kind = action.replace('_all', '');
  switch (kind) {
    case 'gen_keys':
    case 'gen_signature':
      return generate(session, kind);
    case 'list':
      return show(session, await keys.list(action === 'list' ? (statesNamed(match) ?? keyStates) : keyStates));
    case 'print':
      return show(session, await keys.print(match));
    case 'finger':
      return show(session, await keys.finger(match));
    default:
      return change(session, kind as KeyAct, match);
  }
}

/** Creating keys needs no configuration: without a readable one the target folder is used in its place. */
function withoutConfig(parsed: ParsedCommandLine): ParsedCommandLine {
  const { values, explicit } = parsed;
  if (!values['gen_keys']) return parsed;
  try {
    accessSync(String(values['config_dir']), constants.R_OK);
    return parsed;
  } catch {
    mkdirSync(String(values['gen_keys_dir']), { recursive: true });
    return {
      ...parsed,
      values: { ...values, config_dir: values['gen_keys_dir']! },
      explicit: explicit.add('config_dir'),
    };
  }
}

async function checkValues(settings: Settings<ClientOpts>): Promise<void> {
  const { spec, io } = settings;
  const listed = textOption(settings, 'list');
  if (listed !== '' && !statesNamed(listed))
    await usageExit(spec, `'${listed}' is not a valid argument to '--list'`, io);
  const bits = numberOption(settings, 'keysize');
  if (bits < 2048) await usageExit(spec, 'The minimum value for keysize is 2048', io);
  if (bits > 32768) await usageExit(spec, 'The maximum value for keysize is 32768', io);
  if (flagOption(settings, 'delete_all') && settings.args.length > 0) {
    await usageExit(spec, 'Delete all takes no arguments. Use -d to delete specified keys', io);
  }
}

/** Runs `salt-key` with these arguments and returns its exit code. */
export async function saltKey(argv: readonly string[], given: Partial<KeySessionOptions> = {}): Promise<number> {
  const io = given.io ?? terminal;
  const spec = saltKeySpec();
  const parsed = withoutConfig(await readCommandLine(spec, argv, io));
  const settings = await loadCommandSettings({ spec, parsed, load: loadClientConfig, io });
  await checkValues(settings);
  const { action } = chosenAction(settings);
  const onMaster = action !== 'gen_keys' && action !== 'gen_signature';
  const caller = onMaster ? await externalCaller(settings) : undefined;
  if (!settings.values['gen_keys'] && !caller) becomeUser(settings.opts.user);
  const options: KeySessionOptions = {
    io,
    ask: given.ask ?? ((question) => ask(question, io)),
  };
  const common = { ...options, settings, display: new Display(outputOptions(settings), io) };
  const quiet = flagOption(settings, 'quiet');
  if (!caller) return perform({ ...common, quiet, keys: new FolderKeys(settings.opts, io) });
  const { RemoteKeys } = await import('./remote.ts');
  return RemoteKeys.with(settings.opts, caller, (keys) => perform({ ...common, quiet, keys }));
}
