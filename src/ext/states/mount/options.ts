// Decides which mount options require a remount: some never appear among the active ones, some have another spelling there.
import { dictEntries, isDict, type PlainDict, pyStr, type StateContext, textKeyed, type Value } from 'halite/sdk';

const invisible = [
  ...[
    '_netdev',
    'actimeo',
    'bg',
    'comment',
    'defaults',
    'delay_connect',
    'direct-io-mode',
    'intr',
    'loop',
    'nointr',
    'nobootwait',
  ],
  ...[
    'nofail',
    'password',
    'reconnect',
    'retry',
    'soft',
    'auto',
    'users',
    'bind',
    'nonempty',
    'transform_symlinks',
    'port',
  ],
  'backup-volfile-servers',
];
const invisibleKeys = [
  'actimeo',
  'comment',
  'credentials',
  'direct-io-mode',
  'password',
  'port',
  'retry',
  'secretfile',
];

export interface OptionRules {
  readonly extra_mount_invisible_options: Value;
  readonly extra_mount_invisible_keys: Value;
  readonly extra_mount_ignore_fs_keys: Value;
  readonly extra_mount_translate_options: Value;
  readonly hidden_opts: Value;
}

export const optionTexts = (value: Value | undefined): string[] =>
  Array.isArray(value)
    ? value.map(pyStr)
    : value === undefined || value === null || value === ''
      ? []
      : pyStr(value).split(',');

/** `size=1g` in kilobytes and `mode=0750` without leading zeros, as the kernel shows them. */
function asShown(option: string): string {
  const mode = /^mode=0*([0-7]+)$/.exec(option);
  if (mode) return `mode=${mode[1]}`;
  const match = /^size=(\d+)([kmg])/.exec(option);
  if (!match) return option;
  const factor = { k: 1, m: 1024, g: 1024 * 1024 }[match[2] as 'k' | 'm' | 'g'];
  return `size=${Number(match[1]) * factor}k`;
}

/** An option as it would be found among the active ones. */
async function normalized(given: string, fstype: string, rules: OptionRules, ctx: StateContext): Promise<string> {
  const translate = new Map<string, string>([
    ['tcp', 'proto=tcp'],
    ['udp', 'proto=udp'],
  ]);
  if (isDict(rules.extra_mount_translate_options))
    for (const [from, to] of dictEntries(rules.extra_mount_translate_options)) translate.set(pyStr(from), pyStr(to));
  let option = translate.get(given) ?? given;
  const [key = '', value] = option.split('=', 2);
  if ([...invisibleKeys, ...optionTexts(rules.extra_mount_invisible_keys)].includes(key)) return key;
  option = asShown(option);
  if (fstype === 'cifs' && key === 'user') return `username=${value ?? ''}`;
  if (ignoredKeys(fstype, rules).includes(key)) return key;
  if ((key === 'uid' || key === 'gid') && value !== undefined && !/^\d+$/.test(value)) {
    const info = textKeyed(await ctx.call(key === 'uid' ? 'user.info' : 'group.info', value));
    return `${key}=${pyStr(info[key] ?? value)}`;
  }
  return option;
}

function ignoredKeys(fstype: string, rules: OptionRules): string[] {
  const all: PlainDict = { ramfs: ['size'], ...textKeyed(rules.extra_mount_ignore_fs_keys) };
  return optionTexts(all[fstype]);
}

/** Requested options that are not active, sorted. */
export async function missingOptions(
  opts: readonly string[],
  fstype: string,
  mounted: PlainDict,
  rules: OptionRules,
  ctx: StateContext,
): Promise<string[]> {
  const now = [...optionTexts(mounted['opts']), ...optionTexts(mounted['superopts'])].map(asShown);
  const hidden = [...invisible, ...optionTexts(rules.extra_mount_invisible_options), ...optionTexts(rules.hidden_opts)];
  const unseen = [
    ...hidden,
    ...ignoredKeys(fstype, rules),
    ...invisibleKeys,
    ...optionTexts(rules.extra_mount_invisible_keys),
  ];
  const missing: string[] = [];
  for (const given of opts) {
    const option = await normalized(given, fstype, rules, ctx);
    if (!now.includes(option) && !unseen.includes(option)) missing.push(option);
  }
  return missing.sort();
}
