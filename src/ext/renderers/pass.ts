// Renderer `pass`: replaces names of secrets by their values in the password store `pass`.
import { homedir } from 'node:os';
import {
  defineRenderer,
  dictEntries,
  dictOf,
  HaliteError,
  isDict,
  RenderError,
  type RendererContext,
  type Value,
} from 'halite/sdk';
import { markOrdered } from 'halite/sdk/codec';

interface Settings {
  readonly prefix: string;
  readonly strict: boolean;
  readonly env: Readonly<Record<string, string>>;
}

function settingsOf({ opts }: RendererContext): Settings {
  const text = (name: string): string => (typeof opts[name] === 'string' ? opts[name] : '');
  const prefix = text('pass_variable_prefix');
  const strict = opts['pass_strict_fetch'] === true;
  if (strict && prefix === '') {
    throw new HaliteError(
      'config.value',
      "The 'pass_strict_fetch' option requires 'pass_variable_prefix' option enabled",
    );
  }
  const [dir, keys] = [text('pass_dir'), text('pass_gnupghome')];
  const env = {
    HOME: homedir(),
    ...(dir === '' ? {} : { PASSWORD_STORE_DIR: dir }),
    ...(keys === '' ? {} : { GNUPGHOME: keys }),
  };
  return { prefix, strict, env };
}

/** The secret that a text names; without such a secret the text itself or an error, depending on the options. */
async function secret(text: string, settings: Settings, ctx: RendererContext): Promise<string> {
  const { prefix, strict, env } = settings;
  if (!text.startsWith(prefix)) return text;
  const path = text.slice(prefix.length).trim();
  // A name that begins with a dash would be an option of pass.
  const ran = path === '' || path.startsWith('-') ? undefined : await show(path, env, ctx);
  if (ran?.retcode === 0 && ran.stdout !== '') {
    const found = ran.stdout.replace(/[\r\n]+$/, '');
    ctx.keepSecret(found);
    return found;
  }
  const message = `Could not fetch secret '${path}' from the password store: ${ran?.stderr ?? 'this is no name'}`;
  if (strict) throw new RenderError(message, { file: ctx.path });
  ctx.log.warn(message);
  return text;
}

const show = (path: string, env: Settings['env'], ctx: RendererContext) =>
  ctx.exec('pass', ['show', path], { env, timeoutMs: 120_000 }).catch((error: unknown) => {
    throw new RenderError('pass unavailable', { file: ctx.path }, { hint: 'Install pass.', cause: error });
  });

async function replaced(value: Value, settings: Settings, ctx: RendererContext): Promise<Value> {
  if (typeof value === 'string') return secret(value, settings, ctx);
  if (Array.isArray(value)) {
    const items: Value[] = [];
    for (const item of value) items.push(await replaced(item, settings, ctx));
    return items;
  }
  if (!isDict(value)) return value;
  const entries: [Value, Value][] = [];
  for (const [key, item] of dictEntries(value)) entries.push([key, await replaced(item, settings, ctx)]);
  return markOrdered(dictOf(entries));
}

export default defineRenderer({
  name: 'pass',
  doc: 'Replaces names of secrets in the data by their values in the password store `pass`; with pass_variable_prefix only names with this prefix.',
  input: 'any',
  output: 'same',
  render: (source, ctx) => replaced(source, settingsOf(ctx), ctx),
});
