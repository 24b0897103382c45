// Option table of the master: master pillar and templates.
import type { OptionRow } from '../row.ts';

export const masterPillar = [
  { name: 'ext_pillar', type: 'list', default: [], doc: 'External pillar sources and their arguments.' },
  {
    name: 'ext_pillar_first',
    type: 'bool',
    assumed: false,
    since: '2015.5.0',
    doc: 'Ask external pillars before the pillar files.',
  },
  {
    name: 'pillar_safe_render_error',
    type: 'bool',
    default: true,
    doc: 'Tell minions only that rendering failed, not why.',
  },
  { name: 'pillar_version', type: 'int', default: 2, doc: 'Format of the pillar answer; kept for compatibility.' },
  { name: 'master_tops', type: 'dict', default: {}, doc: 'External systems that assign states to minions.' },
  { name: 'jinja_env', type: 'dict', default: {}, since: '2018.3.0', doc: 'Jinja settings for every template.' },
  {
    name: 'jinja_sls_env',
    type: 'dict',
    default: {},
    since: '2018.3.0',
    doc: 'Jinja settings for state and pillar files.',
  },
  {
    name: 'jinja_trim_blocks',
    type: 'bool',
    default: false,
    doc: 'Drop the line break after a Jinja block.',
  },
  {
    name: 'jinja_lstrip_blocks',
    type: 'bool',
    default: false,
    doc: 'Drop spaces before a Jinja block.',
  },
  {
    name: 'pass_variable_prefix',
    type: 'str',
    default: '',
    doc: 'Only values with this prefix are looked up by the `pass` renderer.',
  },
  { name: 'pass_strict_fetch', type: 'bool', default: false, doc: 'Fail when the `pass` renderer finds no secret.' },
  { name: 'pass_gnupghome', type: 'path', default: '', doc: 'GnuPG folder of the `pass` renderer.' },
  { name: 'pass_dir', type: 'path', default: '', doc: 'Password store folder of the `pass` renderer.' },
] as const satisfies readonly OptionRow[];
