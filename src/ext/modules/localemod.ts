// Execution module `locale`: languages and encodings of the system.

import { commandError, defineModule, dictGet, fn, type ModuleContext, newDict, p, pyStr } from 'halite/sdk';
import { pathExists, readdirSync, readText } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';
import { lines, pyEscape } from 'halite/sdk/text';

const grain = (ctx: ModuleContext, name: string): string => pyStr(dictGet(ctx.grains, name) ?? '');
const booted = (): boolean => pathExists('/run/systemd/system');

interface Locale {
  readonly language: string;
  readonly territory: string;
  readonly codeset: string;
  readonly charmap: string;
  readonly modifier: string;
}

/** `de_DE.UTF-8@euro UTF-8` in its parts. */
function split(text: string): Locale {
  const match = /^([^_.@\s]*)(?:_([^.@\s]*))?(?:\.([^@\s]*))?(?:@(\S*))?(?:\s+(.*))?$/.exec(text.trim());
  const [, language = '', territory = '', codeset = '', modifier = '', charmap = ''] = match ?? [];
  return { language, territory, codeset, charmap, modifier };
}

function join({ language, territory, codeset, charmap, modifier }: Locale): string {
  return `${language}${territory && `_${territory}`}${codeset && `.${codeset}`}${modifier && `@${modifier}`}${charmap && ` ${charmap}`}`;
}

/** The form `locale -a` prints: `de_DE.utf8`. */
function normal(text: string): string {
  const locale = split(text);
  return join({ ...locale, codeset: locale.codeset.toLowerCase().replaceAll('-', ''), charmap: '' });
}

/** Where the system keeps LANG when systemd does not. */
const plainFiles: Readonly<Record<string, readonly [string, string]>> = {
  Suse: ['/etc/sysconfig/language', 'RC_LANG'],
  RedHat: ['/etc/sysconfig/i18n', 'LANG'],
  Debian: ['/etc/default/locale', 'LANG'],
};

async function getLocale(ctx: ModuleContext): Promise<string> {
  if (booted() && which('localectl')) {
    const { stdout, retcode } = await askTool(ctx, 'localectl', ['status']);
    if (retcode !== 0) throw commandError('Command "localectl" is in a degraded state.');
    return /\bLANG=(\S+)/.exec(stdout)?.[1] ?? '';
  }
  const place = plainFiles[grain(ctx, 'os_family')];
  if (!place) throw commandError(`Error: "${grain(ctx, 'oscodename')}" is unsupported!`);
  const line = lines(readText(place[0]) ?? '').find((row) => row.startsWith(`${place[1]}=`));
  return line?.split('=')[1]?.replaceAll('"', '') ?? '';
}

async function setLocale(locale: string, ctx: ModuleContext): Promise<boolean> {
  const debian13 = grain(ctx, 'os_family') === 'Debian' && Number(grain(ctx, 'osmajorrelease')) >= 13;
  if (booted() && which('localectl') && !debian13) {
    const { retcode } = await askTool(ctx, 'localectl', ['set-locale', `LANG=${locale}`]);
    if (retcode === 0) return true;
  }
  const place = plainFiles[grain(ctx, 'os_family')];
  if (!place) throw commandError('Error: Unsupported platform!');
  const [file, key] = place;
  if (!pathExists(file)) await ctx.call('file.touch', file);
  await ctx.callWith('file.replace', [file, `^${key}=.*`, `${key}="${locale}"`], { append_if_not_found: true });
  return true;
}

async function generate(given: string, verbose: boolean, ctx: ModuleContext) {
  const os = grain(ctx, 'os');
  const parts = split(given);
  const short = `${parts.language}_${parts.territory}`;
  const locale = !parts.charmap && os !== 'Ubuntu' ? join({ ...parts, charmap: parts.codeset }) : given;
  const supported = '/usr/share/i18n/SUPPORTED';
  const known =
    os === 'Debian' && pathExists(supported)
      ? lines(readText(supported) ?? '').includes(locale)
      : readdirSync('/usr/share/i18n/locales').includes(short);
  if (!known) return false;
  if (pathExists('/etc/locale.gen')) {
    await ctx.callWith('file.replace', ['/etc/locale.gen', `^\\s*#\\s*${pyEscape(locale)}\\s*$`, `${locale}\n`], {
      append_if_not_found: true,
    });
  }
  const [tool, args] = which('locale-gen')
    ? (['locale-gen', [os === 'Ubuntu' ? normal(locale) : locale]] as const)
    : ([
        'localedef',
        ['--force', '-i', short, '-f', parts.codeset, `${short}.${parts.codeset}`, verbose ? '--verbose' : '--quiet'],
      ] as const);
  const { pid, retcode, stdout, stderr } = await askTool(ctx, tool, args);
  return verbose ? newDict(Object.entries({ pid, retcode, stdout, stderr })) : retcode === 0;
}

const available = async (ctx: ModuleContext): Promise<string[]> =>
  (await askTool(ctx, 'locale', ['-a'])).stdout.trimEnd().split('\n');
const locale = p.string({ doc: 'de_DE.UTF-8' });

export default defineModule({
  name: 'localemod',
  virtualName: 'locale',
  doc: 'Languages and encodings of the system.',
  reads: ['list_avail', 'get_locale', 'avail'],
  functions: {
    list_avail: fn({
      doc: 'All available locales.',
      examples: ["salt '*' locale.list_avail"],
      run: (_, ctx) => available(ctx),
    }),
    get_locale: fn({
      doc: 'The locale of the system.',
      examples: ["salt '*' locale.get_locale"],
      run: (_, ctx) => getLocale(ctx),
    }),
    set_locale: fn({
      doc: 'Sets the locale of the system.',
      examples: ["salt '*' locale.set_locale 'en_US.UTF-8'"],
      params: { locale },
      run: (args, ctx) => setLocale(args.locale, ctx),
    }),
    avail: fn({
      doc: 'Whether a locale is available.',
      examples: ["salt '*' locale.avail 'en_US.UTF-8'"],
      params: { locale },
      run: async (args, ctx) => (await available(ctx)).some((item) => normal(item) === normal(args.locale)),
    }),
    gen_locale: fn({
      doc: 'Generates a locale.',
      examples: ["salt '*' locale.gen_locale 'en_IE.UTF-8 UTF-8'"],
      params: { locale, kwargs: p.kwargs({ doc: 'verbose: return the output of the program' }) },
      run: (args, ctx) => generate(args.locale, Boolean(args.kwargs['verbose']), ctx),
    }),
  },
});
