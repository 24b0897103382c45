// Execution module `keyboard`: the layout of the keyboard.
import { defineModule, dictGet, fn, type ModuleContext, newDict, p, pyStr } from 'halite/sdk';
import { readText } from 'halite/sdk/fs';
import { askTool, which } from 'halite/sdk/system';
import { lines } from 'halite/sdk/text';

/** The file and key of the layout on a family of systems. */
const places: Readonly<Record<string, readonly [file: string, key: string]>> = {
  RedHat: ['/etc/sysconfig/keyboard', 'LAYOUT'],
  Debian: ['/etc/default/keyboard', 'XKBLAYOUT'],
  Gentoo: ['/etc/conf.d/keymaps', 'keymap'],
};

const placeOf = (ctx: ModuleContext): readonly [string, string] =>
  places[pyStr(dictGet(ctx.grains, 'os_family') ?? '')] ?? ['/etc/default/keyboard', 'XKBLAYOUT'];

async function current(ctx: ModuleContext): Promise<string> {
  if (which('localectl')) {
    const { stdout } = await askTool(ctx, 'localectl', []);
    return /Keymap: *(.*)/.exec(stdout)?.[1]?.trim() ?? '';
  }
  const [file, key] = placeOf(ctx);
  const line = lines(readText(file) ?? '').find((text) => text.includes(key) && !text.startsWith('#'));
  return (line?.split('=')[1] ?? '').replaceAll('"', '');
}

const layout = p.string({ doc: 'the layout' });

export default defineModule({
  name: 'keyboard',
  doc: 'The layout of the keyboard.',
  available: ({ grains }) =>
    which('localectl') !== null ||
    pyStr(dictGet(grains, 'os_family') ?? '') in places ||
    'The keyboard exeuction module cannot be loaded: only works on Redhat, Debian or Gentoo systems or if localectl binary in path.',
  reads: ['get_sys', 'get_x'],
  functions: {
    get_sys: fn({
      doc: 'The layout of the console.',
      examples: ["salt '*' keyboard.get_sys"],
      run: (_, ctx) => current(ctx),
    }),
    set_sys: fn({
      doc: 'Sets the layout of the console.',
      examples: ["salt '*' keyboard.set_sys us"],
      params: { layout },
      async run(args, ctx) {
        if (which('localectl')) await askTool(ctx, 'localectl', ['set-keymap', args.layout]);
        else {
          const [file, key] = placeOf(ctx);
          await ctx.callWith(
            'file.replace',
            [file, `^${key}=.*`, `${key}=${args.layout}`],
            newDict([['backup', false]]),
          );
        }
        return args.layout;
      },
    }),
    get_x: fn({
      doc: 'The layout of the graphical session.',
      examples: ["salt '*' keyboard.get_x"],
      run: async (_, ctx) =>
        /layout:\s*(.*)/.exec((await askTool(ctx, 'setxkbmap', ['-query'])).stdout)?.[1]?.trim() ?? '',
    }),
    set_x: fn({
      doc: 'Sets the layout of the graphical session.',
      examples: ["salt '*' keyboard.set_x us"],
      params: { layout },
      async run(args, ctx) {
        await askTool(ctx, 'setxkbmap', [args.layout]);
        return args.layout;
      },
    }),
  },
});
