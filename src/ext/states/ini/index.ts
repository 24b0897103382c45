// State module `ini`: options and sections of INI files.
import {
  type ArgsOf,
  defineState,
  dictEntries,
  isDict,
  newDict,
  type PlainDict,
  p,
  pyStr,
  type StateContext,
  type StateResult,
  state,
  textKeyed,
  type Value,
  withForecast,
} from 'halite/sdk';
import { failureOf } from '../shared/calls.ts';

const params = {
  name: p.path({ doc: 'the file' }),
  sections: p.oneOf(['dict', 'list', 'string'], {
    default: null,
    doc: 'section → option → value; options outside of sections at the top level',
  }),
  separator: p.string({ default: '=', doc: 'separator between option and value' }),
};
const encoding = p.scalar({ default: null, doc: 'encoding of the file' });
const presentParams = {
  ...params,
  strict: p.bool({ default: false, doc: 'remove options and sections that are not named' }),
  encoding,
  no_spaces: p.bool({ default: false, doc: 'no spaces around the separator' }),
};
type PresentArgs = ArgsOf<typeof presentParams>;

const entriesOf = (value: Value): [string, Value][] =>
  (Array.isArray(value) ? value : [value]).flatMap((part) =>
    isDict(part) ? dictEntries(part).map(([key, item]): [string, Value] => [pyStr(key), item]) : [],
  );
const inSection = (section: string): string => (section ? ` in section ${section}` : '');

interface Work {
  readonly args: PresentArgs;
  readonly options: [string, Value][];
  readonly sections: [string, PlainDict][];
  /** The present file: options before the first section, and sections. */
  readonly now: PlainDict;
}

const sectionsOf = (now: PlainDict): string[] => Object.keys(now).filter((key) => isDict(now[key] as Value));
const optionsOf = (now: PlainDict): string[] => Object.keys(now).filter((key) => !isDict(now[key] as Value));

/** The options and sections that `strict` removes. */
function superfluous({ args, options, sections, now }: Work): {
  options: string[];
  sections: string[];
  keys: [string, string][];
} {
  if (!args.strict) return { options: [], sections: [], keys: [] };
  return {
    options: optionsOf(now).filter((key) => !options.some(([name]) => name === key)),
    sections: sectionsOf(now).filter((key) => !sections.some(([name]) => name === key)),
    keys: sections.flatMap(([name, body]) =>
      Object.keys(textKeyed(now[name]))
        .filter((key) => !(key in body))
        .map((key): [string, string] => [name, key]),
    ),
  };
}

function forecast(work: Work, ctx: StateContext): StateResult {
  const { options, sections, now } = work;
  const out: string[] = [];
  let changed = false;
  const note = (same: boolean, text: string): void => {
    out.push(`${same ? 'Unchanged' : 'Changed'} key ${text}.\n`);
    changed ||= !same;
  };
  for (const [key, value] of options)
    note(now[key] !== undefined && !isDict(now[key] as Value) && pyStr(now[key] as Value) === pyStr(value), key);
  const extra = superfluous(work);
  const lost = [
    ...extra.options.map((key) => `Removed key ${key}.\n`),
    ...extra.sections.map((key) => `Removed section ${key}.\n`),
  ];
  out.push(...lost);
  changed ||= lost.length > 0;
  for (const [section, body] of sections) {
    for (const [name, key] of extra.keys) {
      if (name !== section) continue;
      out.push(`Deleted key ${key}${inSection(section)}.\n`);
      changed = true;
    }
    for (const [key, value] of Object.entries(body)) {
      const before = textKeyed(now[section])[key];
      note(before !== undefined && pyStr(before) === pyStr(value), `${key}${inSection(section)}`);
    }
  }
  return ctx.result({ result: changed ? null : true, comment: out.join('') });
}

/** The comment of a test run, line by line. */
const announced = (rows: readonly string[], isChange: boolean, ctx: StateContext): StateResult =>
  ctx.result({ result: isChange ? null : true, comment: rows.join('') || 'No changes detected.' });

const applied = (changes: PlainDict, ctx: StateContext): StateResult =>
  ctx.ok(Object.keys(changes).length > 0 ? 'Changes take effect' : 'No anomaly detected', { changes });

async function put(work: Work, ctx: StateContext): Promise<PlainDict> {
  const { args, options, sections, now } = work;
  const file = { file_name: args.name, separator: args.separator, encoding: args.encoding };
  const changes = newDict();
  const set = async (what: PlainDict): Promise<PlainDict> =>
    textKeyed(await ctx.callWith('ini.set_option', [], { ...file, sections: what, no_spaces: args.no_spaces }));
  const gone = (before: Value): PlainDict =>
    newDict([
      ['before', before],
      ['after', null],
    ]);
  Object.assign(changes, await set(newDict(options)));
  const extra = superfluous(work);
  for (const key of extra.options) {
    await ctx.callWith('ini.remove_option', [], { ...file, section: null, option: key });
    changes[key] = gone(now[key] as Value);
  }
  for (const key of extra.sections) {
    await ctx.callWith('ini.remove_section', [], { ...file, section: key });
    changes[key] = gone(now[key] as Value);
  }
  for (const [section, body] of sections) {
    const inner = newDict();
    for (const [name, key] of extra.keys) {
      if (name !== section) continue;
      await ctx.callWith('ini.remove_option', [], { ...file, section, option: key });
      inner[key] = gone(textKeyed(now[section])[key] ?? '#-#-');
    }
    const made = await set(newDict([[section, body]]));
    Object.assign(inner, textKeyed(made[section]));
    if (Object.keys(inner).length > 0) changes[section] = inner;
  }
  return changes;
}

const fileOf = (args: Pick<PresentArgs, 'name' | 'separator' | 'encoding'>) => ({
  file_name: args.name,
  separator: args.separator,
  encoding: args.encoding,
});

/** What a function of the module says when it fails is the comment. */
async function failingWith(ctx: StateContext, work: () => Promise<StateResult>): Promise<StateResult> {
  try {
    return await work();
  } catch (error) {
    return ctx.fail(failureOf(error).message);
  }
}

const options_present = state({
  doc: 'Options of an INI file.',
  examples: ['/etc/app.ini:\n  ini.options_present:\n    - sections:\n        main:\n          port: 80'],
  params: presentParams,
  async run(args, ctx) {
    const all = entriesOf(args.sections);
    const file = fileOf(args);
    return failingWith(ctx, async () => {
      const now = all.length > 0 ? textKeyed(await ctx.callWith('ini.get_ini', [], file)) : newDict();
      const work: Work = {
        args,
        options: all.filter(([, value]) => !isDict(value)),
        sections: all.filter(([, value]) => isDict(value)).map(([key, value]) => [key, textKeyed(value)]),
        now,
      };
      return withForecast(
        ctx,
        () => forecast(work, ctx),
        async () => applied(await put(work, ctx), ctx),
      );
    });
  },
});

const options_absent = state({
  doc: 'Options that must not be in an INI file.',
  examples: ['/etc/app.ini:\n  ini.options_absent:\n    - sections:\n        main:\n          - port'],
  params: { ...params, encoding },
  async run(args, ctx) {
    const file = fileOf(args);
    const out: string[] = [];
    const there: { section: string | null; option: string }[] = [];
    return failingWith(ctx, async () => {
      for (const [name, keys] of entriesOf(args.sections)) {
        // A name without a list is an option before the first section.
        const section = Array.isArray(keys) ? name : null;
        for (const option of Array.isArray(keys) ? keys.map(pyStr) : [name]) {
          const now = await ctx.callWith('ini.get_option', [], { ...file, section, option });
          const where = section === null ? '' : inSection(section);
          out.push(now ? `Deleted key ${option}${where}.\n` : `Key ${option}${where} does not exist.\n`);
          if (now) there.push({ section, option });
        }
      }
      return withForecast(
        ctx,
        () => announced(out, there.length > 0, ctx),
        async () => {
          const changes = newDict();
          for (const { section, option } of there) {
            const before = await ctx.callWith('ini.remove_option', [], { ...file, section, option });
            if (section === null) changes[option] = before;
            else changes[section] = { ...textKeyed(changes[section]), [option]: before };
          }
          return applied(changes, ctx);
        },
      );
    });
  },
});

const namesOf = (value: Value): string[] =>
  isDict(value)
    ? dictEntries(value).map(([key]) => pyStr(key))
    : Array.isArray(value)
      ? value.map((item) => (isDict(item) ? pyStr(dictEntries(item)[0]?.[0] ?? '') : pyStr(item)))
      : value === null
        ? []
        : [pyStr(value)];

const sections_present = state({
  doc: 'Sections of an INI file.',
  examples: ['/etc/app.ini:\n  ini.sections_present:\n    - sections:\n      - main'],
  params: { ...params, encoding },
  async run(args, ctx) {
    const file = fileOf(args);
    return failingWith(ctx, async () => {
      const now = textKeyed(await ctx.callWith('ini.get_ini', [], file));
      const wanted = namesOf(args.sections);
      const missing = wanted.filter((name) => !(name in now));
      const rows = wanted.map((name) =>
        name in now ? `Section unchanged ${name}.\n` : `Created new section ${name}.\n`,
      );
      return withForecast(
        ctx,
        () => announced(rows, missing.length > 0, ctx),
        async () => {
          if (missing.length === 0) return applied(newDict(), ctx);
          const sections = newDict(missing.map((name) => [name, newDict()]));
          const changes = textKeyed(await ctx.callWith('ini.set_option', [], { ...file, sections }));
          return ctx.ok('Changes take effect', { changes });
        },
      );
    });
  },
});

const sections_absent = state({
  doc: 'Sections that must not be in an INI file.',
  examples: ['/etc/app.ini:\n  ini.sections_absent:\n    - sections:\n      - main'],
  params: { ...params, encoding },
  async run(args, ctx) {
    const file = fileOf(args);
    return failingWith(ctx, async () => {
      const now = textKeyed(await ctx.callWith('ini.get_ini', [], file));
      const wanted = namesOf(args.sections);
      const there = wanted.filter((name) => name in now);
      const rows = wanted.map((name) =>
        name in now ? `Deleted section ${name}.\n` : `Section ${name} does not exist.\n`,
      );
      return withForecast(
        ctx,
        () => announced(rows, there.length > 0, ctx),
        async () => {
          const changes = newDict();
          for (const section of there)
            changes[section] = await ctx.callWith('ini.remove_section', [], { ...file, section });
          return applied(changes, ctx);
        },
      );
    });
  },
});

export default defineState({
  name: 'ini',
  doc: 'Options and sections of INI files.',
  functions: { options_present, options_absent, sections_present, sections_absent },
});
