// Outputter `yaml`: block style YAML.
import { defineOutputter } from 'halite/sdk';
import { dumpYaml } from 'halite/sdk/codec';
import { askedIndent } from './shared/indent.ts';

export default defineOutputter({
  name: 'yaml',
  doc: 'YAML in block style; a negative --out-indent gives flow style.',
  render(data, options) {
    const indent = askedIndent(options);
    if (typeof indent !== 'number') return dumpYaml(data, { flow: false });
    return indent >= 0 ? dumpYaml(data, { flow: false, indent }) : dumpYaml(data, { flow: true, indent: 0 });
  },
});
