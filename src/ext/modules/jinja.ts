// Execution module `jinja`: renders map and data files of formulas on this minion.
import { defineModule, fn, invocationError, type ModuleContext, p, type Value } from 'halite/sdk';
import { dumpJson, loadJson } from 'halite/sdk/codec';

const path = p.string({ doc: 'the file, below the root of the file server' });

/** A file name escaped for a quoted string of a template. */
function quoted(name: string): string {
  if (/["\n{}%]/.test(name)) throw invocationError(`'${name}' is no name of a file`);
  return `"${name}"`;
}

/** The last line is JSON, which is YAML as well; it goes through the renderers of states as in Salt. */
async function render(lines: readonly string[], ctx: ModuleContext): Promise<Value> {
  // A second pass through JSON: maps of templates are marked as ordered, which some outputters show.
  return loadJson(dumpJson(await ctx.render(`${lines.join('\n')}\n`, { saltenv: 'base' })));
}

export default defineModule({
  name: 'jinja',
  doc: 'Shows the data of maps and data files of formulas.',
  reads: ['load_map', 'import_yaml', 'import_json'],
  functions: {
    load_map: fn({
      doc: 'A variable that a map sets, as a formula imports it with its context.',
      examples: ['salt myminion jinja.load_map myformula/map.jinja myformula'],
      params: { path, value: p.string({ doc: 'the name of the variable' }) },
      run({ path: file, value }, ctx) {
        if (!/^[A-Za-z_]\w*$/.test(value)) throw invocationError(`'${value}' is no name of a variable`);
        return render([`{% from ${quoted(file)} import ${value} with context %}`, `{{ ${value} | tojson }}`], ctx);
      },
    }),
    import_yaml: fn({
      doc: 'The data of a YAML file, which may be a template.',
      examples: ['salt myminion jinja.import_yaml myformula/foo.yaml'],
      params: { path },
      run: (args, ctx) =>
        render([`{% import_yaml ${quoted(args.path)} as imported %}`, '{{ imported | tojson }}'], ctx),
    }),
    import_json: fn({
      doc: 'The data of a JSON file, which may be a template.',
      examples: ['salt myminion jinja.import_json myformula/foo.json'],
      params: { path },
      run: (args, ctx) =>
        render([`{% import_json ${quoted(args.path)} as imported %}`, '{{ imported | tojson }}'], ctx),
    }),
  },
});
