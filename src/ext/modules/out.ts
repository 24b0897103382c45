// Execution module `out`: renders data with outputters, for templates and messages.
import {
  type ArgsOf,
  commandError,
  defineModule,
  dictEntries,
  fn,
  isDict,
  type ModuleContext,
  type PlainDict,
  p,
  pyStr,
  type Value,
} from 'halite/sdk';

const params = {
  data: p.any({ doc: 'the data' }),
  out: p.string({ default: 'nested', doc: 'the outputter' }),
  opts: p.dict({ default: null, falsy: null, doc: 'options of outputters; default: those of the minion' }),
  kwargs: p.kwargs({ doc: 'further options' }),
};
type Args = ArgsOf<typeof params>;

function optionsOf(args: Args, ctx: ModuleContext): Record<string, Value> {
  const given = isDict(args.opts) && dictEntries(args.opts).length > 0;
  const base = given
    ? Object.fromEntries(dictEntries(args.opts as PlainDict).map(([key, value]) => [pyStr(key), value]))
    : ctx.opts;
  const named = Object.entries(args.kwargs).filter(([name]) => !name.startsWith('__'));
  return { ...base, ...Object.fromEntries(named) };
}

/** A minion has no terminal: colours only on request. Data that an outputter cannot show is shown with `nested`. */
async function shown(args: Args, ctx: ModuleContext): Promise<string> {
  const { show } = ctx;
  if (!show) throw commandError('There are no outputters here');
  const opts = optionsOf(args, ctx);
  const color = opts['force_color'] === true || (args.kwargs['color'] === true && opts['no_color'] !== true);
  const name = args.out === 'text' ? 'txt' : args.out || 'nested';
  const by = (outputter: string): Promise<string | undefined> => show.call(ctx, args.data, outputter, { color, opts });
  const usual = async (): Promise<string> => (await by('nested')) ?? '';
  const text = await by(name).catch(usual);
  if (text === undefined && name !== 'grains')
    ctx.log.error(`Invalid outputter ${name} specified, fall back to nested`);
  return (text ?? (await usual())).trimEnd();
}

const escapes = new RegExp(`${String.fromCharCode(27)}[^m]*m`, 'g');
const plain = async (args: Args, ctx: ModuleContext): Promise<string> => (await shown(args, ctx)).replace(escapes, '');

export default defineModule({
  name: 'out',
  doc: 'Renders data with outputters.',
  reads: ['out_format', 'string_format', 'html_format'],
  functions: {
    out_format: fn({
      doc: 'Renders data with an outputter.',
      examples: [`salt '*' out.out_format "{'key': 'value'}"`],
      params,
      run: shown,
    }),
    string_format: fn({
      doc: 'Renders data with an outputter, without colours.',
      examples: [`salt '*' out.string_format "{'key': 'value'}" out=table`],
      params,
      run: plain,
    }),
    html_format: fn({
      doc: 'Renders data with an outputter, with HTML spaces and line breaks.',
      examples: [`salt '*' out.html_format "{'key': 'value'}" out=yaml`],
      params,
      run: async (args, ctx) => (await plain(args, ctx)).replaceAll(' ', '&nbsp;').replaceAll('\n', '<br />'),
    }),
  },
});
