// Option table shared by master and minion: pillar.
import type { OptionRow } from '../row.ts';

export const commonPillar = [
{ name: 'pillar_roots', type: 'roots', default: {base: ['/srv/pillar', '/srv/spm/pillar']}, doc: 'Folders of pillar files, by environment.' },
{ name: 'pillarenv', type: ['null', 'str'], default: null, doc: 'Pillar environment to use; unset means all.' },
{ name: 'pillar_opts', type: 'bool', default: false, doc: 'Put the master\'s configuration into the pillar under `master`.' },
{ name: 'pillar_source_merging_strategy', type: 'str', default: 'smart', since: '2014.7.0', doc: 'How pillar sources combine: none, recurse, aggregate, overwrite or smart.' },
{ name: 'pillar_merge_lists', type: 'bool', default: false, since: '2015.8.0', doc: 'Join lists of several sources instead of replacing them.' },
{ name: 'pillar_includes_override_sls', type: 'bool', default: false, since: '2017.7.6', doc: 'Let an included pillar file win over the file that includes it.' },
{ name: 'pillar_raise_on_missing', type: 'bool', assumed: false, since: '2015.5.0', doc: 'Fail when `pillar.get` without default names a missing key.' },
{ name: 'pillar_cache', type: 'bool', default: false, since: '2015.8.8', doc: 'Keep compiled pillars instead of compiling them for each request.' },
{ name: 'pillar_cache_ttl', type: 'duration', default: 3600, since: '2015.8.8', doc: 'Seconds a kept pillar is used.' },
{ name: 'pillar_cache_backend', type: 'str', default: 'disk', since: '2015.8.8', doc: 'Where kept pillars live: disk or memory.' },
{ name: 'on_demand_ext_pillar', type: 'strs', default: ['libvirt', 'virtkey'], since: '2016.3.6', doc: 'External pillars that `pillar.ext` may run on request.' },
{ name: 'decrypt_pillar', type: 'list', default: [], since: '2017.7.0', doc: 'Pillar keys whose values are decrypted, with the renderer to use.' },
{ name: 'decrypt_pillar_delimiter', type: 'str', default: ':', since: '2017.7.0', doc: 'Separator of nested keys in `decrypt_pillar`.' },
{ name: 'decrypt_pillar_default', type: 'str', default: 'gpg', since: '2017.7.0', doc: 'Renderer used for keys that name none.' },
{ name: 'decrypt_pillar_renderers', type: 'strs', default: ['gpg'], since: '2017.7.0', doc: 'Renderers that may decrypt pillar values.' },
{ name: 'gpg_decrypt_must_succeed', type: 'bool', default: true, since: '3005', doc: 'Fail on text that cannot be decrypted instead of passing it through.' },
{ name: 'gpg_cache', type: 'bool', default: false, doc: 'Keep decrypted values.' },
{ name: 'gpg_cache_ttl', type: 'duration', default: 86400, doc: 'Seconds a decrypted value is kept.' },
{ name: 'gpg_cache_backend', type: 'str', default: 'disk', doc: 'Where decrypted values are kept: disk or memory.' },
] as const satisfies readonly OptionRow[];
