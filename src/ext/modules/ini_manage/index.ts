// Execution module `ini`: options and sections of INI files.
import { defineModule, dictEntries, fn, isDict, newDict, type PlainDict, p, pyStr, type Value } from 'halite/sdk';
import { plainOf, readIni, Section, writeIni } from './ini-file.ts';

const file = p.path({ doc: 'the file' });
const separator = p.string({ default: '=', doc: 'separator between option and value' });
const encoding = p.string({ default: null, doc: 'encoding of the file' });
const section = p.string({ nullable: true, doc: 'the section; None for options before the first one' });
const option = p.string({ doc: 'the option' });

/** A dictionary, also when it comes as a list of one-entry dictionaries. */
function entriesOf(value: Value): [string, Value][] {
  if (value === null) return [];
  const parts = Array.isArray(value) ? value : [value];
  return parts.flatMap((part) =>
    isDict(part) ? dictEntries(part).map(([key, item]): [string, Value] => [pyStr(key), item]) : [],
  );
}

export default defineModule({
  name: 'ini_manage',
  virtualName: 'ini',
  doc: 'Options and sections of INI files.',
  reads: ['get_option', 'get_section', 'get_ini'],
  functions: {
    set_option: fn({
      doc: 'Sets options of sections; returns the changes.',
      examples: [`salt '*' ini.set_option /path/to/ini '{section_foo: {key: value}}'`],
      params: {
        file_name: file,
        sections: p.oneOf(['dict', 'list'], {
          default: null,
          doc: 'section → option → value; options outside of sections at the top level',
        }),
        separator,
        encoding,
        no_spaces: p.bool({ default: false, doc: 'no spaces around the separator' }),
      },
      run(args) {
        const ini = readIni(args.file_name, args.separator, args.encoding, args.no_spaces);
        const changes = ini.update(entriesOf(args.sections));
        writeIni(args.file_name, ini, args.encoding);
        return changes;
      },
    }),
    get_option: fn({
      doc: 'The value of an option, or None.',
      examples: ["salt '*' ini.get_option /path/to/ini section_name option_name"],
      params: { file_name: file, section, option, separator, encoding },
      run(args) {
        const ini = readIni(args.file_name, args.separator, args.encoding);
        const place = args.section ? ini.items.get(args.section) : ini;
        const value = place instanceof Section ? place.items.get(args.option) : undefined;
        return value === undefined ? null : plainOf(value);
      },
    }),
    remove_option: fn({
      doc: 'Removes an option; returns its value, or None when there was none.',
      examples: ["salt '*' ini.remove_option /path/to/ini section_name option_name"],
      params: { file_name: file, section, option, separator, encoding },
      run(args) {
        const ini = readIni(args.file_name, args.separator, args.encoding);
        const found = args.section === null ? undefined : ini.items.get(args.section);
        const place = found instanceof Section ? found : ini;
        const value = place.items.get(args.option);
        place.items.delete(args.option);
        writeIni(args.file_name, ini, args.encoding);
        return value === undefined ? null : plainOf(value);
      },
    }),
    get_section: fn({
      doc: 'The options of a section.',
      examples: ["salt '*' ini.get_section /path/to/ini section_name"],
      params: { file_name: file, section: p.string(), separator, encoding },
      run(args) {
        const found = readIni(args.file_name, args.separator, args.encoding).items.get(args.section);
        return found instanceof Section ? plainOf(found) : newDict();
      },
    }),
    remove_section: fn({
      doc: 'Removes a section; returns its options, or None when there was none.',
      examples: ["salt '*' ini.remove_section /path/to/ini section_name"],
      params: { file_name: file, section: p.string(), separator, encoding },
      run(args): Value {
        const ini = readIni(args.file_name, args.separator, args.encoding);
        const found = ini.items.get(args.section);
        if (!(found instanceof Section)) return null;
        ini.items.delete(args.section);
        writeIni(args.file_name, ini, args.encoding);
        return plainOf(found);
      },
    }),
    get_ini: fn({
      doc: 'The whole file as data.',
      examples: ["salt '*' ini.get_ini /path/to/ini"],
      params: { file_name: file, separator, encoding },
      run: (args) => plainOf(readIni(args.file_name, args.separator, args.encoding)) as PlainDict,
    }),
  },
});
