// Execution module `apache` on Debian: enables and disables sites, modules and configuration snippets.

import { defineModule, dictGet, fn, type ModuleContext, newDict, type PlainDict, p } from 'halite/sdk';
import { lstatSync } from 'halite/sdk/fs';
import { runTool, which } from 'halite/sdk/system';

const isLink = (path: string): boolean => lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
const withEnding = (name: string, endings: readonly string[]): string =>
  endings.some((ending) => name.endsWith(ending)) ? name : `${name}${endings[0]}`;

type Kind = 'Site' | 'Mod' | 'Conf';

/** Runs `a2enmod` or a similar tool and returns Salt's message for its exit status. */
async function switched(kind: Kind, on: boolean, name: string, ctx: ModuleContext): Promise<PlainDict> {
  const tool = `a2${on ? 'en' : 'dis'}${kind.toLowerCase()}`;
  const { retcode } = await runTool(ctx, tool, [name]);
  const missing = on ? 1 : 256;
  const status =
    retcode === 0
      ? `${kind} ${name} ${on ? 'enabled' : 'disabled'}`
      : retcode === missing
        ? `${kind} ${name} Not found`
        : retcode;
  return newDict([
    ['Name', `Apache2 ${on ? 'Enable' : 'Disable'} ${kind}`],
    [kind, name],
    ['Status', status],
  ]);
}

const site = p.string({ doc: 'the site' });
const mod = p.string({ doc: 'the module' });
const conf = p.string({ doc: 'the configuration snippet' });

export default defineModule({
  name: 'deb_apache',
  virtualName: 'apache',
  doc: 'Sites, modules and configuration snippets of Apache on Debian.',
  available: ({ grains }) =>
    (which('apache2ctl') !== null && dictGet(grains, 'os_family') === 'Debian') ||
    // Salt has two modules of this name and gives the reasons of both.
    'The apache execution module cannot be loaded: apache is not installed.; ' +
      'apache execution module not loaded: apache not installed.',
  reads: ['check_site_enabled', 'check_mod_enabled', 'check_conf_enabled'],
  functions: {
    check_site_enabled: fn({
      doc: 'Whether a site is enabled.',
      examples: ["salt '*' apache.check_site_enabled example.com"],
      params: { site },
      run({ site }) {
        const file = withEnding(site, ['.conf']);
        const folder = '/etc/apache2/sites-enabled';
        return isLink(`${folder}/${file}`) || (site === 'default' && isLink(`${folder}/000-${file}`));
      },
    }),
    check_mod_enabled: fn({
      doc: 'Whether a module is enabled.',
      examples: ["salt '*' apache.check_mod_enabled status"],
      params: { mod },
      run: ({ mod }) => isLink(`/etc/apache2/mods-enabled/${withEnding(mod, ['.load', '.conf'])}`),
    }),
    check_conf_enabled: fn({
      doc: 'Whether a configuration snippet is enabled.',
      examples: ["salt '*' apache.check_conf_enabled security"],
      params: { conf },
      run: ({ conf }) => isLink(`/etc/apache2/conf-enabled/${withEnding(conf, ['.conf'])}`),
    }),
    a2ensite: fn({
      doc: 'Enables a site.',
      examples: ["salt '*' apache.a2ensite example.com"],
      params: { site },
      run: (args, ctx) => switched('Site', true, args.site, ctx),
    }),
    a2dissite: fn({
      doc: 'Disables a site.',
      examples: ["salt '*' apache.a2dissite example.com"],
      params: { site },
      run: (args, ctx) => switched('Site', false, args.site, ctx),
    }),
    a2enmod: fn({
      doc: 'Enables a module.',
      examples: ["salt '*' apache.a2enmod vhost_alias"],
      params: { mod },
      run: (args, ctx) => switched('Mod', true, args.mod, ctx),
    }),
    a2dismod: fn({
      doc: 'Disables a module.',
      examples: ["salt '*' apache.a2dismod vhost_alias"],
      params: { mod },
      run: (args, ctx) => switched('Mod', false, args.mod, ctx),
    }),
    a2enconf: fn({
      doc: 'Enables a configuration snippet.',
      examples: ["salt '*' apache.a2enconf security"],
      params: { conf },
      run: (args, ctx) => switched('Conf', true, args.conf, ctx),
    }),
    a2disconf: fn({
      doc: 'Disables a configuration snippet.',
      examples: ["salt '*' apache.a2disconf security"],
      params: { conf },
      run: (args, ctx) => switched('Conf', false, args.conf, ctx),
    }),
  },
});
