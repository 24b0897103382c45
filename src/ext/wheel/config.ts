// Wheel `config`: the master's configuration, for programs.

import { dirname, resolve } from 'node:path';
import { defineWheel, masterFn, messageOf, newDict, p, type Value } from 'halite/sdk';
import { dumpYaml } from 'halite/sdk/codec';
import { mkdirSync, safeJoin, writeFileSync } from 'halite/sdk/fs';

function writeIncluded(opts: Readonly<Record<string, Value>>, name: string, contents: Value): string {
  const folder = resolve(dirname(String(opts['conf_file'])), dirname(String(opts['default_include'])));
  let file: string;
  try {
    file = safeJoin(folder, name);
  } catch {
    return 'Invalid path';
  }
  try {
    mkdirSync(folder, { recursive: true, mode: 0o755 });
    writeFileSync(file, dumpYaml(contents, { flow: false }));
    return `Wrote ${name}`;
  } catch (error) {
    return messageOf(error);
  }
}

export default defineWheel({
  name: 'config',
  doc: 'Show the configuration of the master, and add to it.',
  functions: {
    values: masterFn({
      doc: 'All options of the master with their values.',
      examples: ["salt '*' saltutil.wheel config.values"],
      params: {},
      run: (_args, ctx) => newDict(Object.entries(ctx.opts)),
    }),
    update_config: masterFn({
      doc: 'Writes a file of options into the folder of included files (master.d); the master reads it at the next start.',
      examples: ["salt '*' saltutil.wheel config.update_config gui '{timeout: 10}'"],
      params: {
        file_name: p.text({ doc: 'its name, without .conf' }),
        yaml_contents: p.any({ doc: 'the options' }),
      },
      run: ({ file_name, yaml_contents }, ctx) => writeIncluded(ctx.opts, `${file_name}.conf`, yaml_contents),
    }),
  },
});
