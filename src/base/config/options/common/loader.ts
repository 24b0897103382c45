// Option table shared by master and minion: modules, renderers and extension loading.
import type { OptionRow } from '../row.ts';

export const commonLoader = [
  { name: 'module_dirs', type: 'strs', default: [], doc: 'Extra folders to load execution modules from.' },
  { name: 'outputter_dirs', type: 'strs', default: [], doc: 'Extra folders to load outputters from.' },
  {
    name: 'utils_dirs',
    type: 'strs',
    default: [],
    since: '2018.3.0',
    doc: 'Extra folders to load shared helper modules from.',
  },
  {
    name: 'clean_dynamic_modules',
    type: 'bool',
    default: true,
    doc: 'Remove synced modules that no longer exist on the file server.',
  },
  { name: 'extmod_whitelist', type: 'dict', default: {}, doc: 'Extension modules that may be synced, by kind.' },
  {
    name: 'extmod_blacklist',
    type: 'dict',
    default: {},
    since: '2017.7.0',
    doc: 'Extension modules that are never synced, by kind.',
  },
  {
    name: 'renderer',
    type: 'str',
    default: 'jinja|yaml',
    doc: 'Renderers applied to state and pillar files that name none.',
  },
  { name: 'renderer_whitelist', type: 'strs', default: [], doc: 'Renderers that may be used; empty means all.' },
  { name: 'renderer_blacklist', type: 'strs', default: [], doc: 'Renderers that may not be used.' },
  {
    name: 'reactor_refresh_interval',
    type: 'duration',
    default: 60,
    doc: "Seconds a reaction file's parsed form is kept.",
  },
  { name: 'reactor_worker_threads', type: 'int', default: 10, doc: 'How many reactions run at the same time.' },
  {
    name: 'reactor_worker_hwm',
    type: 'int',
    default: 10000,
    doc: 'How many reactions may wait before new ones are refused.',
  },
  { name: 'reactor_niceness', type: ['null', 'int'], default: null, since: '3001', doc: 'Nice value of the reactor.' },
  { name: 'thoriumenv', type: ['null', 'str'], default: null, doc: 'Environment of the thorium files.' },
  { name: 'thorium_top', type: 'str', default: 'top.sls', doc: 'Top file of the thorium reactor.' },
  { name: 'thorium_interval', type: 'duration', default: 0.5, doc: 'Seconds between two thorium runs.' },
  {
    name: 'thorium_roots',
    type: 'roots',
    default: { base: ['/srv/thorium'] },
    doc: 'Folders of thorium files, by environment.',
  },
] as const satisfies readonly OptionRow[];
